# Builds the release preset in a folder of its own, installs it, and moves the installed tree to <scratch>/prefix: whoever
# uses that copy proves that it may be moved.
#
#   cmake -D SOURCE=<source tree> -D BUILD=<build tree> -D SCRATCH=<folder> -D OPTIONS=<cmake arguments>
#     -P install_copy.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${SCRATCH})
execute_process(COMMAND_ERROR_IS_FATAL ANY
  COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} --preset release ${OPTIONS})
execute_process(COMMAND_ERROR_IS_FATAL ANY
  COMMAND ${CMAKE_COMMAND} --build ${BUILD})
execute_process(COMMAND_ERROR_IS_FATAL ANY
  COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/installed)
file(RENAME ${SCRATCH}/installed ${SCRATCH}/prefix)
