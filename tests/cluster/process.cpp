#include "cluster/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

extern char** environ;

namespace lifering_test {
namespace {

struct pipe_ends {
  int read = -1;
  int write = -1;
};

/// Closed on exec, so that no child holds another's pipe open.
pipe_ends make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  return {ends[0], ends[1]};
}

/// Appends what there is; false at the end.
bool read_some(int from, std::string& to) {
  std::array<char, 65536> buffer;
  const auto length = ::read(from, buffer.data(), buffer.size());
  if (length > 0) to.append(buffer.data(), static_cast<std::size_t>(length));
  return length > 0 || (length < 0 && errno == EINTR);
}

void close_end(int& end) {
  if (end >= 0) ::close(end);
  end = -1;
}

}  // namespace

process::process(const std::vector<std::string>& words) {
  ::signal(SIGPIPE, SIG_IGN);  // A child that is gone is no reason to go.
  auto in = make_pipe();
  auto out = make_pipe();
  auto err = make_pipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const auto& word : words)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int error =
      posix_spawn(&pid_, words.at(0).c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close_end(in.read);
  close_end(out.write);
  close_end(err.write);
  input_ = in.write;
  output_ = out.read;
  error_ = err.read;
  if (error != 0) throw std::system_error(error, std::generic_category(), words[0]);
}

process::~process() {
  if (!status_ && pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::kill(pid_, SIGCONT);
    ::waitpid(pid_, nullptr, 0);
  }
  for (int* end : {&input_, &output_, &error_})
    close_end(*end);
}

void process::write(std::string_view text) {
  while (!text.empty() && input_ >= 0) {
    const auto written = ::write(input_, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void process::close_input() {
  close_end(input_);
}

void process::signal(int number) const {
  if (!status_) ::kill(pid_, number);
}

void process::pump(std::chrono::milliseconds patience) {
  std::array<pollfd, 2> waits{{{output_, POLLIN, 0}, {error_, POLLIN, 0}}};
  if (::poll(waits.data(), waits.size(), static_cast<int>(patience.count())) <= 0) return;
  if (waits[1].revents != 0 && !read_some(error_, errors_)) close_end(error_);
  if (waits[0].revents != 0 && !read_some(output_, partial_)) close_end(output_);
  for (auto end = partial_.find('\n'); end != std::string::npos; end = partial_.find('\n')) {
    lines_.push_back(partial_.substr(0, end));
    partial_.erase(0, end + 1);
  }
}

const std::vector<std::string>& process::lines() {
  pump(std::chrono::milliseconds(0));
  return lines_;
}

std::vector<std::string> process::take_lines() {
  pump(std::chrono::milliseconds(0));
  return std::exchange(lines_, {});
}

const std::string& process::errors() {
  pump(std::chrono::milliseconds(0));
  return errors_;
}

std::optional<std::string> process::wait_for_line(
    const std::function<bool(const std::string&)>& pleases, std::chrono::milliseconds patience,
    std::size_t from) {
  const auto end = clock::now() + patience;
  for (std::size_t looked = from;;) {
    for (; looked < lines_.size(); ++looked) {
      if (pleases(lines_[looked])) return lines_[looked];
    }
    if (output_ < 0 || clock::now() > end) return std::nullopt;
    pump(std::chrono::milliseconds(20));
  }
}

std::optional<int> process::wait(std::chrono::milliseconds patience) {
  const auto end = clock::now() + patience;
  while (!status_) {
    int status = 0;
    const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
    if (ended == pid_) {
      status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      // What it said last is still in the pipes.
      while (output_ >= 0 || error_ >= 0)
        pump(std::chrono::milliseconds(1000));
    } else if (clock::now() > end) {
      return std::nullopt;
    } else {
      pump(std::chrono::milliseconds(5));
    }
  }
  return status_;
}

}  // namespace lifering_test
