dnl SPDX-License-Identifier: Apache-2.0
dnl
dnl Checks of configure.ac. Each says what to install when something is missing.

dnl MUSL_CC: the compiler of the static host program.
AC_DEFUN([HUSK_PROG_MUSL_CC], [
AC_ARG_VAR([MUSL_CC], [compiler that makes static musl programs])
AC_CACHE_CHECK([whether $CC targets musl], [husk_cv_cc_musl], [
	AC_PREPROC_IFELSE([AC_LANG_SOURCE([[#include <features.h>
#ifdef __GLIBC__
#error glibc
#endif]])], [husk_cv_cc_musl=yes], [husk_cv_cc_musl=no])])
AS_IF([test -z "$MUSL_CC" && test "$husk_cv_cc_musl" = yes], [MUSL_CC=$CC])
AC_CHECK_PROGS([MUSL_CC], [musl-gcc x86_64-linux-musl-gcc])
AS_IF([test -z "$MUSL_CC"],
	[AC_MSG_ERROR([no compiler for musl: install musl-tools, or set MUSL_CC])])
])

dnl GUEST_CC, GUEST_INCLUDE: the freestanding compiler and its own include folder.
AC_DEFUN([HUSK_PROG_GUEST_CC], [
AC_ARG_VAR([GUEST_CC], [compiler of the guest kernel (default: CC)])
AS_IF([test -z "$GUEST_CC"], [GUEST_CC=$CC])
AC_MSG_CHECKING([for the include folder of $GUEST_CC])
AS_CASE([$($GUEST_CC --version 2>/dev/null)],
	[*clang*], [GUEST_INCLUDE=$($GUEST_CC -print-resource-dir)/include],
	[GUEST_INCLUDE=$($GUEST_CC -print-file-name=include)])
AS_IF([test -r "$GUEST_INCLUDE/stddef.h"], [AC_MSG_RESULT([$GUEST_INCLUDE])],
	[AC_MSG_ERROR([no stddef.h in $GUEST_INCLUDE])])
AC_SUBST([GUEST_INCLUDE])
])

dnl HUSK_HEADER_PATH(VAR, HEADER, REGEX): the file that CC takes for <HEADER>, or nothing. (To m4
dnl a number sign starts a comment: what follows it is not quoted.)
AC_DEFUN([HUSK_HEADER_PATH], [
$1=$(echo '#include <$2>' | $CC $CPPFLAGS -E -x c - 2>/dev/null |
	$AWK -F '"' -v f=2 '/^# / && /$3/ { print $f; exit }')
])

dnl Where the UAPI headers are: the musl compiler does not find them, the guest's must not look.
AC_DEFUN([HUSK_UAPI_HEADERS], [
AC_MSG_CHECKING([for the kernel's UAPI headers])
HUSK_HEADER_PATH([husk_kvm_h], [linux/kvm.h], [linux.kvm.h])
HUSK_HEADER_PATH([husk_asm_h], [asm/kvm.h], [asm.kvm.h])
HUSK_HEADER_PATH([husk_generic_h], [asm-generic/types.h], [asm-generic.types.h])
AS_IF([test -z "$husk_kvm_h" || test -z "$husk_asm_h" || test -z "$husk_generic_h"],
	[AC_MSG_ERROR([no <linux/kvm.h>: install linux-libc-dev])])
uapi_linux=$(dirname "$husk_kvm_h")
uapi_asm=$(dirname "$husk_asm_h")
uapi_asm_generic=$(dirname "$husk_generic_h")
AC_MSG_RESULT([$uapi_linux])
AC_CACHE_CHECK([whether they are new enough], [husk_cv_uapi], [
	AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#include <linux/kvm.h>
#include <linux/fuse.h>
#include <linux/landlock.h>
#if !defined(KVM_CAP_SPLIT_IRQCHIP) || !defined(KVM_GET_STATS_FD) || FUSE_KERNEL_MINOR_VERSION < 31
#error too old
#endif]], [])], [husk_cv_uapi=yes], [husk_cv_uapi=no])])
AS_IF([test "$husk_cv_uapi" = no],
	[AC_MSG_ERROR([<linux/kvm.h>, <linux/fuse.h> and <linux/landlock.h> of Linux 5.14 or later are needed])])
])

dnl HUSK_STATIC_LIB(VAR, NAME, HEADER, PACKAGE): VAR_A is the archive that goes into husk, VAR_LIBS
dnl what tests link, and its headers go to the deps folder, which musl-gcc is shown.
AC_DEFUN([HUSK_STATIC_LIB], [
AC_ARG_VAR([$1_A], [static lib$2 for the host program])
AC_MSG_CHECKING([for static lib$2])
AS_IF([test -z "$[]$1_A"], [$1_A=$($CC -print-file-name=lib$2.a)])
HUSK_HEADER_PATH([husk_h], [$3], [$3])
AS_IF([test -r "$[]$1_A" && test -n "$husk_h"], [AC_MSG_RESULT([$[]$1_A])],
	[AC_MSG_ERROR([no lib$2.a with $3: install $4])])
dnl The header and the neighbours that it includes.
dep_headers="$dep_headers $(echo '#include <$3>' | $CC $CPPFLAGS -E -x c - | $AWK -F '"' -v f=2 -v dir="$(dirname "$husk_h")" \
	'/^# / && index($f, dir) == 1 && $f ~ /$2/ && !seen[$f]++ { print $f }' | tr '\n' ' ')"
$1_LIBS=-l$2
AC_SUBST([$1_LIBS])
])

dnl HUSK_BUILD_LIB(VAR, NAME, HEADER, PACKAGE): a library that tools of the build use.
AC_DEFUN([HUSK_BUILD_LIB], [
AC_CHECK_HEADER([$3], [], [AC_MSG_ERROR([no <$3>: install $4])])
AC_CHECK_LIB([$2], [seccomp_init], [$1=-l$2], [AC_MSG_ERROR([no lib$2: install $4])])
AC_SUBST([$1])
])

dnl The distribution's archives may call glibc's fortified functions, which musl lacks.
AC_DEFUN([HUSK_FORTIFY_SHIM], [
AC_MSG_CHECKING([whether the archives need fortified functions])
husk_chk=$($NM -u "$LIBFDT_A" "$LIBJANSSON_A" 2>/dev/null | grep -c '__[[a-z]]*_chk$')
AS_IF([test "$husk_chk" -gt 0], [husk_chk=yes], [husk_chk=no])
AC_MSG_RESULT([$husk_chk])
AM_CONDITIONAL([FORTIFY_SHIM], [test "$husk_chk" = yes])
])

dnl Tests run with ASan and UBSan where CC has them; --enable-asan adds the program husk-asan.
AC_DEFUN([HUSK_SANITIZE], [
AC_ARG_ENABLE([sanitize], [AS_HELP_STRING([--disable-sanitize], [tests without ASan and UBSan])],
	[], [enable_sanitize=auto])
AC_ARG_ENABLE([asan], [AS_HELP_STRING([--enable-asan], [also make husk-asan, a sanitized husk for tests])],
	[], [enable_asan=no])
husk_san="-fsanitize=address,undefined -fno-omit-frame-pointer"
AC_CACHE_CHECK([whether $CC links sanitized programs], [husk_cv_sanitize], [
	husk_save=$CFLAGS
	CFLAGS="$CFLAGS $husk_san"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [husk_cv_sanitize=yes], [husk_cv_sanitize=no])
	CFLAGS=$husk_save])
AS_IF([test "$enable_sanitize" = yes || test "$enable_asan" = yes],
	[AS_IF([test "$husk_cv_sanitize" = no], [AC_MSG_ERROR([$CC has no sanitizers])])])
dnl gcc's -Wmaybe-uninitialized is wrong about instrumented code.
AC_CACHE_CHECK([whether $CC knows -Wno-maybe-uninitialized], [husk_cv_wno_maybe], [
	husk_save=$CFLAGS
	CFLAGS="$CFLAGS -Werror -Wno-maybe-uninitialized"
	AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])], [husk_cv_wno_maybe=yes], [husk_cv_wno_maybe=no])
	CFLAGS=$husk_save])
AS_IF([test "$husk_cv_wno_maybe" = yes], [husk_san="$husk_san -Wno-maybe-uninitialized"])
SANITIZE_CFLAGS=
AS_IF([test "$enable_sanitize" != no && test "$husk_cv_sanitize" = yes], [SANITIZE_CFLAGS=$husk_san])
ASAN_CFLAGS=$husk_san
AC_SUBST([SANITIZE_CFLAGS])
AC_SUBST([ASAN_CFLAGS])
AM_CONDITIONAL([ASAN_BINARY], [test "$enable_asan" = yes])
])

dnl A static program that is loaded anywhere (address space randomisation). Distributions' musl-gcc
dnl knows no -static-pie, so its parts are named one by one; where that does not give a program
dnl that runs, husk is linked at a fixed address.
AC_DEFUN([HUSK_STATIC_PIE], [
AC_ARG_ENABLE([pie], [AS_HELP_STRING([--disable-pie], [link husk at a fixed address])],
	[], [enable_pie=yes])
HUSK_STATIC_LDFLAGS=-static
HUSK_STATIC_END=
AC_MSG_CHECKING([for static position-independent programs])
husk_crt=$(dirname "$($MUSL_CC -### -x c /dev/null 2>&1 | tr ' "' '\n\n' | grep 'crt1\.o$' | head -n 1)")
husk_pie_ld="-nostartfiles -static -Wl,-pie,--no-dynamic-linker,-z,text $husk_crt/rcrt1.o $husk_crt/crti.o $($MUSL_CC -print-file-name=crtbeginS.o)"
husk_pie_end="$($MUSL_CC -print-file-name=crtendS.o) $husk_crt/crtn.o"
AS_IF([test "$enable_pie" = no], [husk_pie=no],
	[husk_pie=no
	echo 'static int x; static int *volatile p = &x; int main(void) { return *p; }' >conftest.c
	$MUSL_CC -fPIE $husk_pie_ld conftest.c $husk_pie_end -o conftest$EXEEXT >&AS_MESSAGE_LOG_FD 2>&1 &&
		./conftest$EXEEXT && husk_pie=yes
	rm -f conftest*])
AS_IF([test "$husk_pie" = yes],
	[HUSK_STATIC_LDFLAGS=$husk_pie_ld; HUSK_STATIC_END=$husk_pie_end])
AC_MSG_RESULT([$husk_pie])
AC_SUBST([HUSK_STATIC_LDFLAGS])
AC_SUBST([HUSK_STATIC_END])
])
