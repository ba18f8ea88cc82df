# Builds lifering as a packager would, installs it, and moves the installed tree to <scratch>/prefix: whoever uses that
# copy proves that it may be moved. With the options of the release preset the compiler cache has half of it already.
#
#   cmake -D SOURCE=<source tree> -D SCRATCH=<folder> -D GENERATOR=<name> -D OPTIONS=<cmake arguments>
#     -P install_copy.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${SCRATCH}/prefix ${SCRATCH}/installed)
execute_process(COMMAND_ERROR_IS_FATAL ANY
  COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${SCRATCH}/build -G ${GENERATOR} ${OPTIONS}
    -D CMAKE_INSTALL_PREFIX=${SCRATCH}/installed -D LIFERING_BUILD_EXAMPLES=OFF)
execute_process(COMMAND_ERROR_IS_FATAL ANY
  COMMAND ${CMAKE_COMMAND} --build ${SCRATCH}/build)
execute_process(COMMAND_ERROR_IS_FATAL ANY
  COMMAND ${CMAKE_COMMAND} --install ${SCRATCH}/build)
file(RENAME ${SCRATCH}/installed ${SCRATCH}/prefix)
