# dist_test_timeout(out seconds): what a test that asks for this many seconds, or for nothing, may take here. Under
# sanitizers processes start several times slower.
function(dist_test_timeout out seconds)
  if(NOT seconds)
    set(seconds 120)
  endif()
  if(DIST_SANITIZE)
    math(EXPR seconds "3 * ${seconds}")
  endif()
  set(${out} ${seconds} PARENT_SCOPE)
endfunction()

# dist_add_test(NAME unit.core SOURCES a_test.cpp ... [LABELS unit] [LIBRARIES ...] [TIMEOUT seconds])
# One GoogleTest program, linked with the one main of tests/support; each TEST is a CTest test of its own
# when DISCOVER is given, otherwise the whole program is one. `tests_<label>` builds all programs with a label.
# COST: the tests that may take longest begin first, so that no long test runs alone at the end.
function(dist_add_test)
  cmake_parse_arguments(T "DISCOVER" "NAME;TIMEOUT" "SOURCES;LABELS;LIBRARIES;ARGS" ${ARGN})
  string(REPLACE "." "_" target ${T_NAME})
  add_executable(${target} ${T_SOURCES})
  target_link_libraries(${target} PRIVATE distlab::dist dist_test_main dist_warnings ${T_LIBRARIES})
  dist_precompile(${target} quick_test)
  foreach(label IN LISTS T_LABELS)
    if(NOT TARGET tests_${label})
      add_custom_target(tests_${label})
    endif()
    add_dependencies(tests_${label} ${target})
  endforeach()
  dist_test_timeout(T_TIMEOUT "${T_TIMEOUT}")
  if(T_DISCOVER)
    include(GoogleTest)
    gtest_discover_tests(${target} TEST_PREFIX "${T_NAME}." TEST_LIST ${target}_cases DISCOVERY_TIMEOUT 60
                         PROPERTIES TIMEOUT ${T_TIMEOUT} COST ${T_TIMEOUT})
    # gtest_discover_tests takes no list as a property: several labels are set where CTest reads the discovered cases.
    set(labels ${CMAKE_CURRENT_BINARY_DIR}/${target}_labels.cmake)
    file(WRITE ${labels} "if(${target}_cases)
  set_tests_properties(\${${target}_cases} PROPERTIES LABELS \"${T_LABELS}\")
endif()
")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels})
  else()
    add_test(NAME ${T_NAME} COMMAND ${target} ${T_ARGS})
    set_tests_properties(${T_NAME} PROPERTIES LABELS "${T_LABELS}" TIMEOUT ${T_TIMEOUT} COST ${T_TIMEOUT})
  endif()
endfunction()

# dist_add_simulated(NAME unit.group [FILTER pattern]): the program of a dist_add_test once more, as NAME.simulated: what
# starts its ranks by run_ranks() (tests/support/ranks.h) or dist::spawn() runs them as virtual ranks, under the checker.
# It fails when the checker says anything that a test did not ask for. FILTER: of the program's tests, as GoogleTest's.
function(dist_add_simulated)
  cmake_parse_arguments(S "" "NAME;FILTER;TIMEOUT" "LABELS" ${ARGN})
  string(REPLACE "." "_" target ${S_NAME})
  if(NOT S_FILTER)
    set(S_FILTER "*")
  endif()
  dist_test_timeout(S_TIMEOUT "${S_TIMEOUT}")
  add_test(NAME ${S_NAME}.simulated COMMAND ${target} --gtest_filter=${S_FILTER})
  # spawn() throws for a finding, but only prints a note.
  set_tests_properties(${S_NAME}.simulated PROPERTIES LABELS "${S_LABELS}" TIMEOUT ${S_TIMEOUT} ENVIRONMENT
                       "DIST_SIM=topology=laptop" FAIL_REGULAR_EXPRESSION "note: rank;note: threads")
endfunction()
