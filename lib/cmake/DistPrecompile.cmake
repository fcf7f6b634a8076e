# dist_precompile(TARGET quick_test|test|program|lab): the headers of the library cost more than most sources that use
# them. They are compiled once for all test programs (with GoogleTest), for all other programs, and for all sources of
# labs: precompiled headers serve only what is compiled with the same flags. quick_test: the target is not optimised in
# the development build; under a sanitizer that saves two fifths of the time that its compilation takes.
function(dist_precompile target kind)
  set(headers dist_${kind}_headers)
  if(NOT TARGET ${headers})
    set(source ${PROJECT_SOURCE_DIR}/lib/cmake/precompiled.cpp)
    if(kind STREQUAL "lab")
      add_library(${headers} OBJECT EXCLUDE_FROM_ALL ${source})
    else()
      add_executable(${headers} EXCLUDE_FROM_ALL ${source})
    endif()
    target_link_libraries(${headers} PRIVATE distlab::dist dist_warnings)
    target_precompile_headers(${headers} PRIVATE <fmt/format.h> <dist/dist.h>)
    # ccache would preprocess the headers with what the previous build has precompiled, and so return the result of
    # an old version for a new one. Therefore it asks the compiler what the result depends on. (Where clones share
    # results, that finds less.)
    if(DIST_CCACHE AND CMAKE_CXX_COMPILER_LAUNCHER)
      set_target_properties(${headers} PROPERTIES CXX_COMPILER_LAUNCHER
                            "${PROJECT_SOURCE_DIR}/lib/cmake/precompile.sh;${CMAKE_COMMAND};-E;env;CCACHE_DEPEND=1;${CMAKE_CXX_COMPILER_LAUNCHER}")
    endif()
    if(kind MATCHES "test$")
      target_link_libraries(${headers} PRIVATE GTest::gtest)
      target_precompile_headers(${headers} PRIVATE <gtest/gtest.h>)
    endif()
    if(kind STREQUAL "quick_test")
      target_compile_options(${headers} PRIVATE $<${development}:-O0>)
    endif()
    if(kind STREQUAL "lab") # an index out of range ends the program with a sentence
      target_compile_definitions(${headers} PRIVATE _GLIBCXX_ASSERTIONS)
    endif()
  endif()
  if(kind STREQUAL "lab")
    target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
  elseif(kind STREQUAL "quick_test")
    target_compile_options(${target} PRIVATE $<${development}:-O0>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()
