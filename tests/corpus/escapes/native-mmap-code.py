# Machine code in an executable mapping is called: here only a return, then the C library.
# effect: run
import ctypes
import mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write({"x86_64": b"\xb8\x2a\x00\x00\x00\xc3"}.get(__import__("platform").machine(), b"\x40\x05\x80\x52\xc0\x03\x5f\xd6"))
if ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))() == 42:
    ctypes.CDLL(None).system(b"cat @SECRET@")
