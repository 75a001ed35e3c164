build/obj/daemon/process/notify.o: src/daemon/process/notify.c \
 src/daemon/process/notify.h src/base/clock.h src/base/fd.h \
 src/base/buf.h src/base/error.h src/base/units.h
src/daemon/process/notify.h:
src/base/clock.h:
src/base/fd.h:
src/base/buf.h:
src/base/error.h:
src/base/units.h:
