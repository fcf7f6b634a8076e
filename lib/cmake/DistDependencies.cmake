# Everything comes from the system's packages; a missing one is named with its Debian package.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
macro(dist_find package debian)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} is missing: apt-get install ${debian} (or let ./distlab do it)")
  endif()
endmacro()
dist_find(fmt libfmt-dev)
dist_find(nlohmann_json nlohmann-json3-dev)
dist_find(CLI11 libcli11-dev)
dist_find(Boost libboost-context-dev COMPONENTS context)
if(DIST_BUILD_TESTS)
  dist_find(GTest libgtest-dev)
endif()
include(DistCuda)    # CUDA, NCCL, cuDNN: DIST_CUDA, DIST_NCCL
include(DistMpi)     # Open MPI: DIST_MPI
include(DistOneDnn)  # oneDNN: DIST_ONEDNN
include(DistZlib)    # zlib: DIST_ZLIB
