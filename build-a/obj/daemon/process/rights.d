build/obj/daemon/process/rights.o: src/daemon/process/rights.c \
 src/daemon/process/rights.h src/base/error.h src/cell/ids.h
src/daemon/process/rights.h:
src/base/error.h:
src/cell/ids.h:
