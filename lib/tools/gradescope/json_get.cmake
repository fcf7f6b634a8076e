# cmake -D FILE=file.json -D "KEYS=assignment;title" -P json_get.cmake prints that value. It fails when there is none.
file(READ "${FILE}" json)
string(JSON value ERROR_VARIABLE error GET "${json}" ${KEYS})
if(error)
  message(FATAL_ERROR "${FILE}: ${error}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${value}")
