// <lifering/keyring.hpp>: the keys as users hold them.
#include "wire/public_keyring.hpp"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/catch.hpp"

using lifering::keyring;
using lifering::seal_mode;
namespace fs = std::filesystem;

namespace {

std::string new_key() {
  std::array<char, lifering::key_text_size> text{};
  lifering::generate_key(text);
  return {text.begin(), text.end()};
}

}  // namespace

TEST_CASE("A key that was generated can be added, and none comes twice", "[wire][seal]") {
  const auto key = new_key();
  CHECK(key != new_key());
  keyring keys;
  CHECK(keys.mode() == seal_mode::off);
  CHECK(keys.set_mode(seal_mode::require));  // A problem: without a key.
  REQUIRE_FALSE(keys.add(key));
  REQUIRE_FALSE(keys.set_mode(seal_mode::require));
  CHECK(keys.mode() == seal_mode::require);
  REQUIRE(keys.ids().size() == 1);
  CHECK(keys.ids()[0].size() == 16);
  CHECK(keys.add(key));
  CHECK(keys.remove(keys.ids()[0]));  // It seals.
  REQUIRE_FALSE(keys.add(new_key()));
  REQUIRE_FALSE(keys.use(keys.ids()[1]));
  REQUIRE_FALSE(keys.remove(keys.ids()[1]));
  CHECK(keys.ids().size() == 1);
}

TEST_CASE("What is no key is refused without being repeated", "[wire][seal]") {
  keyring keys;
  const std::string almost = new_key().substr(0, 43);
  const auto found = keys.add(almost);
  REQUIRE(found);
  CHECK(found->text.find(almost) == std::string::npos);
}

TEST_CASE("A key file adds what isn't held, all of it or nothing", "[wire][seal]") {
  const auto path =
      fs::temp_directory_path() / ("lifering-public-keys-" + std::to_string(::getpid()));
  const auto first = new_key();
  const auto write = [&](int count) {
    std::ofstream out(path);
    out << "# keys\n" << first << '\n';
    for (int i = 1; i < count; ++i)
      out << new_key() << '\n';
    out.close();
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  };
  keyring keys;
  REQUIRE_FALSE(keys.add(first));
  write(2);
  REQUIRE_FALSE(keys.add_file(path));
  CHECK(keys.ids().size() == 2);
  write(8);  // One is held, seven are new: nine in all.
  CHECK(keys.add_file(path));
  CHECK(keys.ids().size() == 2);
  fs::permissions(path, fs::perms::group_read, fs::perm_options::add);
  const auto found = keys.add_file(path);
  REQUIRE(found);
  CHECK(found->text.find(path.string()) != std::string::npos);
  CHECK(found->text.find(first) == std::string::npos);
  const auto mistaken = keys.add_file(first);
  REQUIRE(mistaken);
  CHECK(mistaken->text.find(first) == std::string::npos);
  fs::remove(path);
}

TEST_CASE("Modes have their names as words", "[wire][seal]") {
  for (const auto mode : {seal_mode::off, seal_mode::accept, seal_mode::require})
    CHECK(lifering::parse_seal_mode(to_string(mode)) == mode);
  CHECK_FALSE(lifering::parse_seal_mode("on"));
}

TEST_CASE("A secret that was wiped is gone", "[wire][seal]") {
  auto key = new_key();
  lifering::wipe(key);
  CHECK(key == std::string(lifering::key_text_size, '\0'));
}
