# Open MPI, as DIST_MPI asks: AUTO, ON or OFF. Sets DIST_HAVE_MPI, DIST_MPI_VERSION, DIST_MPI_WHY and MPIEXEC_EXECUTABLE;
# makes the target MPI::MPI_CXX (the C interface, as a C++ program links it).

set(DIST_HAVE_MPI OFF)
set(DIST_MPI_WHY "switched off by DIST_MPI=OFF, configure with -DDIST_MPI=AUTO")

if(NOT DIST_MPI STREQUAL "OFF")
  set(MPI_CXX_SKIP_MPICXX ON)  # the C++ bindings are gone from MPI 3
  find_package(MPI QUIET COMPONENTS CXX)
  set(DIST_MPI_WHY "Open MPI was not found (mpicxx, mpi.h): apt-get install libopenmpi-dev openmpi-bin")
  if(MPI_CXX_FOUND)
    foreach(folder IN LISTS MPI_CXX_INCLUDE_DIRS)
      if(EXISTS ${folder}/mpi.h)
        file(STRINGS ${folder}/mpi.h lines REGEX "^#define OMPI_(MAJOR|MINOR|RELEASE)_VERSION")
        break()
      endif()
    endforeach()
    string(REGEX REPLACE "[^0-9;]" "" numbers "${lines}")
    list(JOIN numbers "." DIST_MPI_VERSION)
    if(DIST_MPI_VERSION)
      set(DIST_HAVE_MPI ON)
    else()
      set(DIST_MPI_WHY "the MPI found (${MPI_CXX_INCLUDE_DIRS}) is not Open MPI: apt-get install libopenmpi-dev openmpi-bin and set MPI_HOME")
    endif()
  endif()
endif()

if(DIST_HAVE_MPI)
  message(STATUS "With Open MPI ${DIST_MPI_VERSION}")
elseif(DIST_MPI STREQUAL "ON")
  message(FATAL_ERROR "DIST_MPI=ON, but ${DIST_MPI_WHY}")
else()
  message(STATUS "Without MPI: ${DIST_MPI_WHY}")
endif()
