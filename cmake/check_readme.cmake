# The README's first program and the example that is built and run must be the same text.
#
#   cmake -D README=<file> -D PROGRAM=<file> -P check_readme.cmake
cmake_minimum_required(VERSION 3.25)

file(READ ${README} text)
file(READ ${PROGRAM} program)

string(FIND "${text}" "```cpp\n" start)
if(start EQUAL -1)
  message(FATAL_ERROR "${README} shows no program")
endif()
math(EXPR start "${start} + 7")
string(SUBSTRING "${text}" ${start} -1 text)
string(FIND "${text}" "```" end)
string(SUBSTRING "${text}" 0 ${end} shown)

if(NOT shown STREQUAL program)
  message(FATAL_ERROR "The first program of ${README} differs from ${PROGRAM}")
endif()
