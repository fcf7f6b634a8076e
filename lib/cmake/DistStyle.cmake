# Targets for the style of the C++ and shell sources that git tracks:
#   format        rewrites what clang-format would write otherwise
#   format_check  fails where it would, and where shellcheck finds something
#   tidy          clang-tidy (.clang-tidy) over the sources of lib/ and labs/
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(style ${CMAKE_CURRENT_LIST_DIR}/style.sh)
foreach(verb format format_check tidy)
  add_custom_target(${verb} COMMAND ${style} ${verb} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                    USES_TERMINAL VERBATIM)
endforeach()
