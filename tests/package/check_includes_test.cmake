# Proves that check_includes.cmake can fail: each row is one file with one include in a tree of its own, and what the
# check must say of it. An empty last column means that the check must pass.
#
#   cmake -D CHECK=<check_includes.cmake> -D SCRATCH=<folder> -P check_includes_test.cmake
cmake_minimum_required(VERSION 3.25)

set(rows
  "include/lifering/ring.hpp    | <vector>                | "
  "include/lifering/ring.hpp    | <lifering/error.hpp>    | "
  "include/lifering/ring.hpp    | <sys/types.h>           | must not include <sys/types.h> (system)"
  "include/lifering/ring.hpp    | <lifering/cluster.hpp>  | must not include <lifering/cluster.hpp> (public)"
  "include/lifering/ring.hpp    | \"base/check.hpp\"      | must not include \"base/check.hpp\" (base)"
  "include/lifering/member.hpp  | <asio.hpp>              | must not include <asio.hpp> (asio)"
  "include/lifering/cluster.hpp | <asio/io_context.hpp>   | "
  "include/lifering/cluster.hpp | <spdlog/spdlog.h>       | must not include <spdlog/spdlog.h> (spdlog)"
  "include/lifering/cluster.hpp | \"lifering.pb.h\"       | must not include \"lifering.pb.h\" (protobuf)"
  "include/lifering/cluster.hpp | <sodium.h>              | must not include <sodium.h> (sodium)"
  "lib/base/time.hpp            | \"swim/message.hpp\"    | must not include \"swim/message.hpp\" (swim)"
  "lib/swim/protocol.cpp        | \"base/check.hpp\"      | "
  "lib/swim/protocol.cpp        | \"ring/builder.hpp\"    | must not include \"ring/builder.hpp\" (ring)"
  "lib/swim/protocol.cpp        | <thread>                | must not include <thread> (impure)"
  "lib/swim/protocol.cpp        | <cmath>                 | must not include <cmath> (impure)"
  "lib/swim/protocol.cpp        | <sys/socket.h>          | must not include <sys/socket.h> (system)"
  "lib/ring/builder.cpp         | \"swim/message.hpp\"    | must not include \"swim/message.hpp\" (swim)"
  "lib/wire/codec.cpp           | <google/protobuf/arena.h> | "
  "lib/wire/codec.cpp           | \"net/driver.hpp\"      | must not include \"net/driver.hpp\" (net)"
  "lib/net/driver.cpp           | \"wire/codec.hpp\"      | "
  "lib/net/driver.cpp           | \"ring/builder.hpp\"    | must not include \"ring/builder.hpp\" (ring)"
  "lib/net/driver.cpp           | \"lifering.pb.h\"       | must not include \"lifering.pb.h\" (protobuf)"
  "lib/cluster/facade.cpp       | \"net/driver.hpp\"      | "
  "examples/agent/main.cpp      | <lifering/cluster.hpp>  | "
  "examples/agent/main.cpp      | \"swim/message.hpp\"    | must not include \"swim/message.hpp\" (swim)"
  "examples/agent/main.cpp      | \"../lib/x.hpp\"        | must not include \"../lib/x.hpp\" (relative)"
  "tests/fuzz/stream.cpp        | \"target.hpp\"          | "
  "tests/fuzz/stream.cpp        | \"fuzz/target.hpp\"     | "
  "tests/swim/paper_test.cpp    | \"fuzz/target.hpp\"     | must not include \"fuzz/target.hpp\" (foreign)"
  "tests/sim/world.cpp          | \"wire/codec.hpp\"      | "
  "tests/sim/world.cpp          | \"net/driver.hpp\"      | must not include \"net/driver.hpp\" (net)"
  "lib/attic/new.cpp            | <vector>                | no rule says what this file may include")

foreach(row IN LISTS rows)
  string(REGEX MATCH "^([^ ]+) +[|] +([^ ]+) +[|] *(.*)$" _ "${row}")
  set(file "${CMAKE_MATCH_1}")
  set(include "${CMAKE_MATCH_2}")
  set(complaint "${CMAKE_MATCH_3}")
  file(REMOVE_RECURSE ${SCRATCH})
  file(WRITE ${SCRATCH}/${file} "#include ${include}\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -D ROOT=${SCRATCH} -P ${CHECK}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(complaint STREQUAL "")
    if(NOT result EQUAL 0)
      message(SEND_ERROR "${file} may include ${include}, and the check said: ${output}")
    endif()
  else()
    string(FIND "${output}" "${file}: ${complaint}" found)
    if(result EQUAL 0 OR found EQUAL -1)
      message(SEND_ERROR "Expected of ${file}: ${complaint}\nThe check said: ${output}")
    endif()
  endif()
endforeach()

# A tree without sources must not pass for a clean one.
file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})
execute_process(COMMAND ${CMAKE_COMMAND} -D ROOT=${SCRATCH} -P ${CHECK} RESULT_VARIABLE result ERROR_QUIET)
if(result EQUAL 0)
  message(SEND_ERROR "The check passed an empty tree")
endif()
