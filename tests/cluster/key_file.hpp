// Keys for agents as separate processes.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cluster/agent.hpp"
#include "support/catch.hpp"

namespace lifering_test {

/// A key as `lifering-agent keygen` prints it.
inline std::string new_key() {
  process keygen({LIFERING_AGENT, "keygen"});
  const auto line = keygen.wait_for_line([](const std::string&) { return true; }, agent_patience);
  REQUIRE(line);
  CHECK(keygen.wait(agent_patience) == 0);
  CHECK(line->size() == 44);
  return *line;
}

/// A key file of its owner alone, gone at the end.
class key_file {
 public:
  explicit key_file(const std::string& key = new_key()) {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("lifering-key-" + std::to_string(::getpid()) + '-' + std::to_string(++count));
    std::ofstream(path_) << key << '\n';
    using std::filesystem::perms;
    std::filesystem::permissions(path_, perms::owner_read | perms::owner_write);
  }
  ~key_file() { std::filesystem::remove(path_); }
  key_file(const key_file&) = delete;
  key_file& operator=(const key_file&) = delete;

  std::string path() const { return path_; }

  /// The words of an agent that holds it and hears nobody who doesn't.
  agent::words required() const { return {"--key-file", path(), "--seal", "require"}; }

 private:
  std::filesystem::path path_;
};

}  // namespace lifering_test
