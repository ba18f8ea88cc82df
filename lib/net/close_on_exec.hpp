// Sockets are this process's own. A program that the application executes while a member runs would
// otherwise hold the port for as long as it lives: nobody could bind to it again, and no peer would
// be refused there when the member has crashed.
#pragma once

#include <fcntl.h>

namespace lifering::net {

/// Right after a socket was made: a child that another thread forks in between keeps it. Asio has
/// no option by which it would be made so.
template <class Socket>
void close_on_exec(Socket& socket) noexcept {
  ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
}

}  // namespace lifering::net
