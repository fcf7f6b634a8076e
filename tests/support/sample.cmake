# What is tried of much that a commit has not touched: a sample, chosen by the commit, so that the commits together try all.
#   cmake -D COMMIT=id -D OF=what -D ONE_IN=n "-DNAMES=a;b;c" -P sample.cmake     prints the chosen ones, a line each
cmake_minimum_required(VERSION 3.25)

# dist_sample(out commit of one_in NAME ...): one in so many, at least one. `of` says what the names are of: two lists of
# the same names are sampled differently.
function(dist_sample out commit of one_in)
  set(keyed "")
  foreach(name IN LISTS ARGN)
    string(SHA256 key "${commit} ${of} ${name}")
    list(APPEND keyed ${key}:${name})
  endforeach()
  list(SORT keyed)
  list(TRANSFORM keyed REPLACE "^[^:]*:" "")
  list(LENGTH keyed all)
  math(EXPR size "(${all} + ${one_in} - 1) / ${one_in}")
  list(SUBLIST keyed 0 ${size} chosen)
  list(SORT chosen)
  set(${out} ${chosen} PARENT_SCOPE)
endfunction()

# Empty where this is no clone. A container may run it as another user than the clone's.
function(dist_commit out)
  execute_process(COMMAND git -c safe.directory=* -C ${CMAKE_CURRENT_FUNCTION_LIST_DIR} rev-parse --verify HEAD
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(${out} "${commit}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  dist_sample(chosen "${COMMIT}" "${OF}" ${ONE_IN} ${NAMES})
  foreach(name IN LISTS chosen)
    execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${name})
  endforeach()
endif()
