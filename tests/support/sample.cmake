# Chooses a sample of what a commit has not touched. The commit decides which, so that many commits together try
# everything.
#   cmake -P sample.cmake COMMIT OF ONE_IN NAME ... prints the chosen ones, a line each
cmake_minimum_required(VERSION 3.25)

# dist_sample(out commit of one_in NAME ...): one in this many, at least one. `of` says what the names are of: two lists of
# the same names are sampled differently.
function(dist_sample out commit of one_in)
  set(keyed "")
  foreach(name IN LISTS ARGN)
    string(SHA256 key "${commit} ${of} ${name}")
    list(APPEND keyed ${key}:${name})
  endforeach()
  list(SORT keyed)
  list(TRANSFORM keyed REPLACE "^[^:]*:(.*)$" "\\1")
  list(LENGTH keyed all)
  math(EXPR size "(${all} + ${one_in} - 1) / ${one_in}")
  list(SUBLIST keyed 0 ${size} chosen)
  list(SORT chosen)
  set(${out} ${chosen} PARENT_SCOPE)
endfunction()

# Empty where this is not a clone. A container may run it as a user other than the clone's.
function(dist_commit out)
  execute_process(COMMAND git -c safe.directory=* -C ${CMAKE_CURRENT_FUNCTION_LIST_DIR} rev-parse --verify HEAD
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(${out} "${commit}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  math(EXPR last "${CMAKE_ARGC} - 1")
  set(names "")
  foreach(i RANGE 6 ${last})
    list(APPEND names "${CMAKE_ARGV${i}}")
  endforeach()
  dist_sample(chosen ${CMAKE_ARGV3} ${CMAKE_ARGV4} ${CMAKE_ARGV5} ${names})
  list(JOIN chosen "\n" lines)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${lines}")
endif()
