# Options of the build. AUTO uses what is found; ON insists on it; OFF leaves it out.
foreach(name CUDA NCCL MPI ONEDNN ZLIB)
  set(DIST_${name} AUTO CACHE STRING "Build with ${name}: AUTO, ON or OFF")
  set_property(CACHE DIST_${name} PROPERTY STRINGS AUTO ON OFF)
  string(TOUPPER "${DIST_${name}}" DIST_${name})
  if(DIST_${name} STREQUAL "")
    set(DIST_${name} AUTO)
  elseif(DIST_${name} MATCHES "^(NO|FALSE|N|0)$")
    set(DIST_${name} OFF)
  elseif(DIST_${name} MATCHES "^(YES|TRUE|Y|1)$")
    set(DIST_${name} ON)
  elseif(NOT DIST_${name} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "DIST_${name} is \"${DIST_${name}}\": give AUTO, ON or OFF")
  endif()
endforeach()
option(DIST_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(DIST_BUILD_LABS "Build the labs" ${PROJECT_IS_TOP_LEVEL})
set(DIST_WRONG_ANSWERS tier CACHE STRING "Wrong answers that the grading is tested on: tier (of a lab that has not changed, a sample) or all")
set_property(CACHE DIST_WRONG_ANSWERS PROPERTY STRINGS tier all)
if(NOT DIST_WRONG_ANSWERS MATCHES "^(tier|all)$")
  message(FATAL_ERROR "DIST_WRONG_ANSWERS is \"${DIST_WRONG_ANSWERS}\": give tier or all")
endif()
option(DIST_WERROR "Warnings are errors" OFF)
if(PROJECT_IS_TOP_LEVEL)  # whose project this is a part of decides for itself
  option(CMAKE_UNITY_BUILD "Compile several sources as one: half the time for all, more for one (OFF when working on them)" ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
endif()
set(DIST_SANITIZE "" CACHE STRING "Sanitizers: address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
# Installed programs find the library beside them, wherever the prefix is moved to.
file(RELATIVE_PATH to_libraries /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set(CMAKE_INSTALL_RPATH $ORIGIN/${to_libraries})
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
# GCC collects its garbage late where there is memory for that: a twentieth of the time. The flag comes first, and once.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CXX_FLAGS MATCHES "ggc-min-heapsize")
  cmake_host_system_information(RESULT megabytes QUERY TOTAL_PHYSICAL_MEMORY)
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  math(EXPR megabytes_per_core "${megabytes} / ${cores}")
  if(megabytes_per_core GREATER_EQUAL 1500)
    string(PREPEND CMAKE_CXX_FLAGS "--param=ggc-min-heapsize=1000000 ")  # kB
  endif()
endif()
# The development build: lines, but no variables, in the library's debug information (a lab's file has both), and little
# effort for code whose speed is not measured: a sixth of the time of a first build. Loops over elements ask for -O3.
set(development $<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:RelWithDebInfo>>)
add_compile_options("$<${development}:-g1;-O1>")

find_program(DIST_CCACHE ccache)
if(DIST_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # Build trees of one checkout share what they compile alike, and precompiled headers do not keep it from doing so.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
                                  CCACHE_PCH_EXTSUM=1 ${DIST_CCACHE})
endif()

# Linked privately by every target of ours.
add_library(dist_warnings INTERFACE)
target_compile_options(
  dist_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic>
                          $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wshadow>  # Clang's takes P2P::isend for a variable
                          $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-pass-failed>  # a loop may stay scalar
                          $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>
                          # False positives in library code that is inlined into ours: "a" + std::string at -O3
                          # (GCC's bug 105651), fmt 9's numbers by GCC 13.
                          "$<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<OR:$<CONFIG:Release>,$<NOT:$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>>>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow>")
if(DIST_WERROR)
  target_compile_options(dist_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()

if(DIST_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${DIST_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${DIST_SANITIZE})
  # Compiling with every check inline takes six times as long as with none; with these two measures, twice. UBSan's
  # checks of pointers are left to AddressSanitizer, and x86-64 and ARM64 do unaligned accesses.
  if(DIST_SANITIZE MATCHES "address.*undefined")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,object-size,vptr,alignment>)
  endif()
  if(DIST_SANITIZE MATCHES "address")
    add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param asan-instrumentation-with-call-threshold=0>")
  endif()
endif()
