#include "cluster/proxy.hpp"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "support/catch.hpp"

namespace lifering_test {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

int port_of(int socket) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.sin_port);
}

/// A listener on a port that the system chooses.
int listen_anywhere() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto address = loopback(0);
  REQUIRE(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(listener, 64) == 0);
  return listener;
}

/// Reads until `end` or the end of the connection.
std::string read_until(int socket, std::string_view end) {
  std::string text;
  char buffer[4096];
  while (end.empty() || text.find(end) == std::string::npos) {
    const auto length = ::recv(socket, buffer, sizeof buffer, 0);
    if (length <= 0) break;
    text.append(buffer, static_cast<std::size_t>(length));
  }
  return text;
}

void send_all(int socket, std::string_view text) {
  while (!text.empty()) {
    const auto length = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (length <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(length));
  }
}

/// A folder for one story, gone with it.
class scratch_folder {
 public:
  scratch_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lifering.XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string contents(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string folders = (path != nullptr ? path : "") + std::string(":/usr/sbin:/usr/local/sbin");
  while (!folders.empty()) {
    const std::string folder = folders.substr(0, folders.find(':'));
    folders.erase(0, folder.size() + 1);
    const std::string program = folder + '/' + name;
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  return std::nullopt;
}

int free_port() {
  const int listener = listen_anywhere();
  const int port = port_of(listener);
  ::close(listener);
  return port;
}

instance::instance(const std::string& placement, const std::vector<std::string>& seeds)
    : listener_(listen_anywhere()), name_("127.0.0.1:" + std::to_string(port_of(listener_))) {
  thread_ = std::thread([this] { serve(); });
  agent_ = std::make_unique<agent>(name_, seeds, agent::words{"--placement", placement});
}

instance::~instance() {
  kill();
}

void instance::kill() {
  if (over_.exchange(true)) return;
  if (agent_) agent_->kill();
  ::shutdown(listener_, SHUT_RDWR);  // Ends the thread's accept.
  thread_.join();
  ::close(listener_);
}

void instance::serve() const {
  for (;;) {
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    read_until(connection, "\r\n\r\n");
    send_all(connection, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " +
                             std::to_string(name_.size()) + "\r\n\r\n" + name_);
    ::close(connection);
  }
}

std::string request(int port, const std::string& key) {
  const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{10, 0};
  ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const auto address = loopback(port);
  std::string answer;
  if (::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    send_all(connection,
             "GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\nX-Key: " + key + "\r\n\r\n");
    answer = read_until(connection, "");
  }
  ::close(connection);
  const auto body = answer.find("\r\n\r\n");
  return body == std::string::npos ? "" : answer.substr(body + 4);
}

std::vector<std::string> asked_keys() {
  std::vector<std::string> keys;
  for (int i = 0; i < 500; ++i)
    keys.push_back("user:" + std::to_string(i * 7919));
  return keys;
}

bool all_land(int port, instances& all) {
  for (const auto& key : asked_keys()) {
    if (request(port, key) != all.front()->member().owner(key)) return false;
  }
  return true;
}

proxy::~proxy() {
  process_.signal(SIGTERM);
  process_.wait(std::chrono::seconds(20));
}

void tell(const proxy_story& story) {
  const scratch_folder folder;
  const std::string servers = folder.path() + "/servers";
  const std::string pid_file = folder.path() + "/pid";
  instances all;
  for (int i = 0; i < 5; ++i) {
    const auto seeds = i == 0 ? agent::words{} : agent::words{all[0]->member().address()};
    all.push_back(std::make_unique<instance>(story.placement, seeds));
  }

  // The list is written, and would be reloaded by a proxy that isn't there yet.
  process writer({PROXY_UPSTREAMS, story.kind, "writer", "127.0.0.1:0", "test", servers,
                  "! test -e " + pid_file + " || kill -" + std::to_string(story.reload_signal) +
                      " $(cat " + pid_file + ")",
                  all[0]->member().address()});
  const auto writes = [&writer](const std::string& line) {
    return writer
        .wait_for_line([&](const std::string& each) { return each == line; }, agent_patience)
        .has_value();
  };
  const bool wrote_five = writes("5 servers");
  INFO(writer.errors());
  REQUIRE(wrote_five);

  const int port = free_port();
  proxy front(story.configure(folder.path(), port));
  std::ofstream(pid_file) << front.own().pid();
  const bool all_landed = eventually([&] { return all_land(port, all); });
  INFO(front.own().errors());
  REQUIRE(all_landed);
  std::set<std::string> answered;
  for (const auto& key : asked_keys())
    answered.insert(request(port, key));
  CHECK(answered.size() == 5);

  // A name that is no address, but something to a reader of configurations, never gets there.
  const std::string before = contents(servers);
  agent stranger("127.0.0.1:1 down; include /etc/passwd", {all[0]->member().address()},
                 {"--placement", story.placement});
  CHECK(eventually([&writer] {
    return writer.errors().find("a member isn't named by its address") != std::string::npos;
  }));
  CHECK(contents(servers) == before);
  stranger.kill();

  const std::string gone = all.back()->name();
  CHECK(contents(servers).find(gone) != std::string::npos);
  all.back()->kill();
  all.pop_back();
  all.front()->member().wait_for_event("failed", gone);
  CHECK(writes("4 servers"));
  CHECK(contents(servers).find(gone) == std::string::npos);
  // The proxy takes a moment to have read it.
  CHECK(eventually([&] { return all_land(port, all); }));
  CHECK(all_land(port, all));
}

}  // namespace lifering_test
