# hashlib, hmac, secrets, uuid, base64, binascii.
# denials: seccomp socket; uuid.uuid1 asks uuidd first, and then does without
import base64
import binascii
import hashlib
import hmac
import secrets
import uuid
print(hashlib.sha256(b"abc").hexdigest(), hashlib.md5(b"").hexdigest(), hashlib.sha3_256(b"x").hexdigest()[:16], hashlib.blake2b(b"k", digest_size=8).hexdigest())
print(hmac.new(b"key", b"message", "sha256").hexdigest(), hmac.compare_digest(b"a", b"a"), hashlib.pbkdf2_hmac("sha256", b"p", b"salt", 1000).hex()[:16], "sha512" in hashlib.algorithms_available)
digest = hashlib.sha1()
for part in (b"a", b"bc"):
    digest.update(part)
print(digest.hexdigest(), digest.block_size)
print(len(secrets.token_hex(8)), len(secrets.token_bytes(5)), secrets.compare_digest("a", "b"), secrets.randbelow(1), secrets.choice([7]))
print(uuid.uuid5(uuid.NAMESPACE_DNS, "example.org"), uuid.uuid3(uuid.NAMESPACE_URL, "x"), uuid.uuid4().version, uuid.UUID(int=5), len(str(uuid.uuid1())))
print(base64.b64encode(b"hello?>"), base64.urlsafe_b64encode(b"hello?>"), base64.b32encode(b"hi"), base64.b16decode(b"6869"), base64.b85encode(b"hi!!"), binascii.hexlify(b"hi"), binascii.crc32(b"hi"))
with open("f.bin", "wb") as file:
    file.write(b"x" * 10)
with open("f.bin", "rb") as file:
    print(hashlib.file_digest(file, "sha256").hexdigest()[:12])
