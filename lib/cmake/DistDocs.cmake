# Target docs: the handbook, build/docs/reference/html/index.html, by Doxygen from the comments in the headers, the READMEs
# of the folders, the labs' handouts and labs/handbook. Only with DIST_DOCS, as the preset docs sets it.
if(NOT DIST_DOCS)
  return()
endif()
find_package(Doxygen QUIET)
if(NOT DOXYGEN_FOUND)
  message(FATAL_ERROR "DIST_DOCS=ON, but doxygen is missing: apt-get install doxygen (or ./distlab setup --dev)")
endif()
set(DOXYGEN_PROJECT_NAME distlab)
set(DOXYGEN_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/reference)
set(DOXYGEN_STRIP_FROM_PATH ${PROJECT_SOURCE_DIR})
set(DOXYGEN_STRIP_FROM_INC_PATH ${PROJECT_SOURCE_DIR}/lib)
set(DOXYGEN_USE_MDFILE_AS_MAINPAGE ${PROJECT_SOURCE_DIR}/README.md)
set(DOXYGEN_FILE_PATTERNS *.h *.md)
set(DOXYGEN_INPUT_FILTER "sed -E -f ${CMAKE_CURRENT_LIST_DIR}/doxygen_comments.sed")
set(DOXYGEN_FILTER_PATTERNS "\"*.md=sed -E -f ${CMAKE_CURRENT_LIST_DIR}/doxygen_markdown.sed\"")
set(DOXYGEN_EXTRACT_ALL YES)        # what needs no comment is listed as well
set(DOXYGEN_EXTRACT_LOCAL_CLASSES NO)
set(DOXYGEN_JAVADOC_AUTOBRIEF YES)  # the first sentence is the summary
set(DOXYGEN_DISTRIBUTE_GROUP_DOC NO)
set(DOXYGEN_SORT_MEMBER_DOCS NO)
set(DOXYGEN_HAVE_DOT NO)
set(DOXYGEN_GENERATE_LATEX NO)
set(DOXYGEN_QUIET YES)
set(DOXYGEN_WARN_AS_ERROR FAIL_ON_WARNINGS)
file(GLOB DOXYGEN_IMAGE_PATH ${PROJECT_SOURCE_DIR}/labs/[0-9]*_*)  # the lead pictures
list(APPEND DOXYGEN_IMAGE_PATH ${PROJECT_SOURCE_DIR}/labs/handbook)
set(DOXYGEN_GENERATE_TREEVIEW YES)
set(DOXYGEN_HTML_EXTRA_STYLESHEET ${CMAKE_CURRENT_LIST_DIR}/handbook.css)
set(root ${PROJECT_SOURCE_DIR})
file(GLOB interfaces CONFIGURE_DEPENDS ${root}/labs/[0-9]*/*.h)  # the handouts link theirs
set(DOXYGEN_HTML_EXTRA_FILES ${interfaces})
file(GLOB_RECURSE pages CONFIGURE_DEPENDS ${root}/labs/*README*.md ${root}/labs/*spec*.md ${root}/lib/tools/*README.md)
file(GLOB teachers ${root}/slides/README.md ${root}/slides/player/README.md ${root}/tests/gpu/*.md) # a tree for students has none
doxygen_add_docs(docs ${root}/README.md ${root}/README.zh-CN.md ${root}/tests/README.md ${root}/lib/README.md ${root}/lib/dist ${root}/labs/handbook
                 ${pages} ${teachers} COMMENT "The handbook: ${CMAKE_BINARY_DIR}/reference/html/index.html")

# Once more what `#include <dist/dist.h>` offers a program, where everything has to be documented: each call, each option.
set(DOXYGEN_EXTRACT_ALL NO)
set(DOXYGEN_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/reference/face)
set(DOXYGEN_USE_MDFILE_AS_MAINPAGE "")
set(DOXYGEN_GENERATE_HTML NO)
set(DOXYGEN_GENERATE_XML YES) # Doxygen wants to write something
set(face backend/work.h core/deadline.h core/error.h core/tensor.h group/process_group.h simulate/simulate.h launch/spawn.h
         parallel/distributed_data_parallel.h store/store.h)
list(TRANSFORM face PREPEND ${root}/lib/dist/)
doxygen_add_docs(docs_face ${face} COMMENT "Whether the face of the library is documented")
add_dependencies(docs docs_face)

if(TARGET check_links) # tests/docs
  add_custom_command(TARGET docs POST_BUILD COMMAND check_links ${CMAKE_BINARY_DIR}/reference/html VERBATIM)
endif()
