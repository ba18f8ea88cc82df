// Asio keeps the system's errors in a category of its own, which compares with nothing else. What
// leaves this floor is in the standard's, so that others can ask for std::errc without knowing
// Asio.
#pragma once

#include <asio/error.hpp>
#include <system_error>

namespace lifering::net {

inline std::error_code to_standard(const std::error_code& error) {
  if (error.category() != asio::error::get_system_category()) return error;
  return {error.value(), std::system_category()};
}

}  // namespace lifering::net
