# oneDNN, as DIST_ONEDNN asks: AUTO, ON or OFF. Sets DIST_HAVE_ONEDNN, DIST_ONEDNN_VERSION and DIST_ONEDNN_WHY; makes the
# target oneDNN::onednn. Without it layers compute in plain loops on the CPU: right, and several times slower.

set(DIST_HAVE_ONEDNN OFF)
set(DIST_ONEDNN_WHY "switched off by DIST_ONEDNN=OFF, configure with -DDIST_ONEDNN=AUTO")

if(NOT DIST_ONEDNN STREQUAL "OFF")
  find_path(DNNL_INCLUDE_DIR NAMES dnnl.hpp)
  find_library(DNNL_LIBRARY NAMES dnnl)
  mark_as_advanced(DNNL_INCLUDE_DIR DNNL_LIBRARY)
  set(DIST_ONEDNN_WHY "dnnl.hpp or libdnnl.so was not found: apt-get install libdnnl-dev")
  if(DNNL_INCLUDE_DIR AND DNNL_LIBRARY)
    dist_header_version(${DNNL_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h DIST_ONEDNN_VERSION DNNL_VERSION_MAJOR
                        DNNL_VERSION_MINOR DNNL_VERSION_PATCH)
    # Its threads are OpenMP's, and GNU's are those that Debian's, Fedora's and Arch's packages use.
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_INCLUDES ${DNNL_INCLUDE_DIR})
    set(CMAKE_REQUIRED_LIBRARIES ${DNNL_LIBRARY} gomp)
    check_cxx_source_compiles(
      "#include <dnnl.hpp>
       static_assert((DNNL_VERSION_MAJOR == 2 || DNNL_VERSION_MAJOR == 3) && DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP);
       extern \"C\" void omp_set_num_threads(int);
       int main() { omp_set_num_threads(1); return dnnl::engine(dnnl::engine::kind::cpu, 0).get_kind() != dnnl::engine::kind::cpu; }"
      DIST_ONEDNN_USABLE)
    unset(CMAKE_REQUIRED_INCLUDES)
    unset(CMAKE_REQUIRED_LIBRARIES)
    set(DIST_ONEDNN_WHY "oneDNN ${DIST_ONEDNN_VERSION} in ${DNNL_INCLUDE_DIR} is not version 2 or 3 on GNU's OpenMP, as libdnnl-dev of Debian and Ubuntu is")
    if(DIST_ONEDNN_USABLE)
      set(DIST_HAVE_ONEDNN ON)
      add_library(oneDNN::onednn UNKNOWN IMPORTED GLOBAL)
      set_target_properties(oneDNN::onednn PROPERTIES IMPORTED_LOCATION ${DNNL_LIBRARY} INTERFACE_LINK_LIBRARIES gomp
                                                      INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR})
    endif()
  endif()
endif()

if(DIST_HAVE_ONEDNN)
  message(STATUS "With oneDNN ${DIST_ONEDNN_VERSION}")
elseif(DIST_ONEDNN STREQUAL "ON")
  message(FATAL_ERROR "DIST_ONEDNN=ON, but ${DIST_ONEDNN_WHY}")
else()
  message(STATUS "Without oneDNN: ${DIST_ONEDNN_WHY}")
endif()
