# zlib, as DIST_ZLIB asks: AUTO, ON or OFF. Sets DIST_HAVE_ZLIB, DIST_ZLIB_VERSION and DIST_ZLIB_WHY; makes the target
# ZLIB::ZLIB.

set(DIST_HAVE_ZLIB OFF)
set(DIST_ZLIB_WHY "switched off by DIST_ZLIB=OFF, configure with -DDIST_ZLIB=AUTO")

if(NOT DIST_ZLIB STREQUAL "OFF")
  find_package(ZLIB QUIET)
  if(ZLIB_FOUND)
    set(DIST_HAVE_ZLIB ON)
    set(DIST_ZLIB_VERSION ${ZLIB_VERSION_STRING})
  else()
    set(DIST_ZLIB_WHY "zlib was not found (zlib.h): apt-get install zlib1g-dev")
  endif()
endif()

if(DIST_HAVE_ZLIB)
  message(STATUS "With zlib ${DIST_ZLIB_VERSION}")
elseif(DIST_ZLIB STREQUAL "ON")
  message(FATAL_ERROR "DIST_ZLIB=ON, but ${DIST_ZLIB_WHY}")
else()
  message(STATUS "Without zlib: ${DIST_ZLIB_WHY}")
endif()
