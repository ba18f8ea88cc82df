// Keys: how they are changed, read from files and kept to themselves.
#include "wire/keyring.hpp"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "wire/key_file.hpp"
#include "wire/keys.hpp"

using lifering::base::secret_text;
using lifering::wire::key_ptr;
using lifering::wire::keyring;
using lifering::wire::load_keys;
using lifering::wire::parse_keys;
using lifering::wire::seal_mode;
using lifering::wire::secret_key;
using lifering::wire::testing::test_key;
namespace wire = lifering::wire;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> ids_of(const keyring& ring) {
  std::vector<std::string> ids;
  for (const auto& key : ring.snapshot()->keys)
    ids.push_back(key->id());
  return ids;
}

std::string text_of(const secret_key& key) {
  return std::string(key.to_text().view());
}

/// A file in a folder of its own, gone at the end.
class key_file {
 public:
  explicit key_file(const std::string& content) {
    static int count = 0;
    folder_ = fs::temp_directory_path() /
              ("lifering-keys-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
    fs::create_directory(folder_);
    std::ofstream(path()) << content;
    set_mode(0600);
  }
  ~key_file() { fs::remove_all(folder_); }
  key_file(const key_file&) = delete;
  key_file& operator=(const key_file&) = delete;

  std::string path() const { return folder_ / "keys"; }
  std::string folder() const { return folder_; }
  void set_mode(unsigned mode) { fs::permissions(path(), static_cast<fs::perms>(mode)); }

 private:
  fs::path folder_;
};

}  // namespace

TEST_CASE("A key is added to open, used to seal, and removed when it no longer seals",
          "[wire][seal]") {
  keyring ring(seal_mode::require, {test_key(1)});
  const auto first = test_key(1)->id();
  const auto second = test_key(2)->id();

  CHECK(ring.use(second));  // A problem: not held.
  REQUIRE_FALSE(ring.add(test_key(2)));
  CHECK(ring.add(test_key(2)));
  CHECK(ids_of(ring) == std::vector{first, second});
  CHECK(ring.remove(first));  // It seals.
  REQUIRE_FALSE(ring.use(second));
  CHECK(ids_of(ring) == std::vector{second, first});
  REQUIRE_FALSE(ring.remove(first));
  CHECK(ring.remove(first));
  CHECK(ids_of(ring) == std::vector{second});
}

TEST_CASE("A keyring without keys can't seal, and the sealing key can't go", "[wire][seal]") {
  keyring ring;
  CHECK(ring.set_mode(seal_mode::accept)->text == "sealing needs a key, and none is held");
  CHECK(ring.snapshot()->mode == seal_mode::off);
  REQUIRE_FALSE(ring.add(test_key(1)));
  REQUIRE_FALSE(ring.set_mode(seal_mode::require));
  CHECK(ring.remove(test_key(1)->id()));
  REQUIRE_FALSE(ring.set_mode(seal_mode::off));
  REQUIRE_FALSE(ring.remove(test_key(1)->id()));
  CHECK(ring.snapshot()->keys.empty());
}

TEST_CASE("A keyring holds at most eight keys", "[wire][seal]") {
  keyring ring;
  for (std::uint8_t i = 0; i < wire::keys_max; ++i)
    REQUIRE_FALSE(ring.add(test_key(i)));
  CHECK(ring.add(test_key(100)));
  CHECK(ring.snapshot()->keys.size() == wire::keys_max);
}

TEST_CASE("A snapshot stays as it was while the keyring changes", "[wire][seal]") {
  keyring ring(seal_mode::accept, {test_key(1)});
  const auto before = ring.snapshot();
  REQUIRE_FALSE(ring.add(test_key(2)));
  REQUIRE_FALSE(ring.use(test_key(2)->id()));
  REQUIRE_FALSE(ring.remove(test_key(1)->id()));
  CHECK(before->keys.size() == 1);
  CHECK(before->keys.front()->id() == test_key(1)->id());
}

TEST_CASE("Readers never see half of a change", "[wire][seal][threads]") {
  keyring ring(seal_mode::require, {test_key(1)});
  const auto first = test_key(1);
  const auto second = test_key(2);
  std::atomic<bool> done = false;
  std::atomic<int> torn = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!done) {
        const auto now = ring.snapshot();
        const bool is_whole = now->mode == seal_mode::require &&
                              (now->keys.size() == 1 || now->keys.size() == 2) &&
                              now->keys.front()->id().size() == 16;
        if (!is_whole) ++torn;
      }
    });
  }
  for (int i = 0; i < 500; ++i) {
    const auto& next = i % 2 == 0 ? second : first;
    const auto& last = i % 2 == 0 ? first : second;
    CHECK_FALSE(ring.add(next));
    CHECK_FALSE(ring.use(next->id()));
    CHECK_FALSE(ring.remove(last->id()));
  }
  done = true;
  for (auto& reader : readers)
    reader.join();
  CHECK(torn == 0);
}

TEST_CASE("Made keys differ, and their ids tell nothing of them", "[wire][seal]") {
  const auto a = secret_key::generate();
  const auto b = secret_key::generate();
  CHECK(a->id() != b->id());
  CHECK(a->id().size() == 16);
  CHECK(text_of(*a).size() == 44);
  CHECK(text_of(*a).find(a->id()) == std::string::npos);
  CHECK(secret_key::from_text(text_of(*a))->id() == a->id());
  CHECK(secret_key::from_text(std::string(64, 'a'))->id() == test_key(0xaa)->id());
  static_assert(!std::is_copy_constructible_v<secret_key>);
  static_assert(!std::is_copy_constructible_v<secret_text>);
}

TEST_CASE("Texts that are no keys are refused", "[wire][seal]") {
  const auto good = text_of(*test_key(7));
  CHECK(secret_key::from_text(good));
  for (const auto& bad :
       {std::string(), std::string("secret"), good.substr(1), good + "=", std::string(44, '='),
        std::string(64, 'g'), std::string(63, 'a'), std::string(65, 'a'), std::string(44, '\0'),
        std::string(43, 'A') + "\n", " " + good.substr(1)}) {
    INFO(bad);
    CHECK_FALSE(secret_key::from_text(bad));
  }
}

TEST_CASE("A key file has a key a line, with comments and blanks", "[wire][seal]") {
  const auto first = text_of(*test_key(1));
  const auto second = std::string(64, '2');
  std::vector<key_ptr> keys;
  const auto text = "# made in May\r\n\n  " + first + " \t\r\n# older\n" + second;
  REQUIRE_FALSE(parse_keys("f", text, keys));
  REQUIRE(keys.size() == 2);
  CHECK(keys[0]->id() == test_key(1)->id());
  CHECK(keys[1]->id() == test_key(0x22)->id());
}

TEST_CASE("What is wrong in a key file is said by line, and never quoted", "[wire][seal]") {
  const auto good = text_of(*test_key(1));
  std::vector<key_ptr> keys{test_key(9)};
  const auto said = [&](const std::string& text) {
    const auto found = parse_keys("/etc/keys", text, keys);
    REQUIRE(found);
    CHECK(found->text.find("\"/etc/keys\"") != std::string::npos);
    CHECK(found->text.find(good.substr(0, 10)) == std::string::npos);
    return found->text;
  };
  CHECK(said("") == "the key file \"/etc/keys\" holds no key");
  CHECK(said("# nothing\n") == "the key file \"/etc/keys\" holds no key");
  CHECK(said(good + "\n\n" + good.substr(0, 40) + "\n").find("in line 3") != std::string::npos);
  CHECK(said(good + "\n" + good + "\n").find("repeats the key") != std::string::npos);
  std::string many;
  for (std::uint8_t i = 0; i <= wire::keys_max; ++i)
    many += text_of(*test_key(i)) + "\n";
  CHECK(said(many) == "the key file \"/etc/keys\" has more than 8 keys");
  CHECK(keys.size() == 1);  // Unchanged throughout.
}

TEST_CASE("A key file that others may read or write is refused", "[wire][seal]") {
  key_file file(text_of(*test_key(1)) + "\n");
  std::vector<key_ptr> keys;
  CHECK_FALSE(load_keys(file.path(), keys));
  REQUIRE(keys.size() == 1);
  CHECK(keys[0]->id() == test_key(1)->id());
  for (const unsigned mode : {0640U, 0604U, 0620U, 0602U, 0610U, 0601U, 0644U, 0666U}) {
    file.set_mode(mode);
    const auto found = load_keys(file.path(), keys);
    REQUIRE(found);
    CHECK(found->text.find("chmod 600") != std::string::npos);
  }
  file.set_mode(0400);
  CHECK_FALSE(load_keys(file.path(), keys));
  // Only root can give a file away.
  if (::chown(file.path().c_str(), 65534, 65534) == 0) {
    const auto found = load_keys(file.path(), keys);
    REQUIRE(found);
    CHECK(found->text.find("belongs to user 65534") != std::string::npos);
  }
}

TEST_CASE("A key file that can't be read, is a folder or has no end is refused", "[wire][seal]") {
  const key_file file(std::string(wire::key_file_max + 1, '#'));
  std::vector<key_ptr> keys;
  CHECK(load_keys(file.path(), keys)->text.find("has more than the 4096 bytes") !=
        std::string::npos);
  CHECK(load_keys(file.folder(), keys)->text.find("is no regular file") != std::string::npos);
  CHECK(load_keys(file.folder() + "/none", keys)->text.find("can't be read: ") !=
        std::string::npos);
  CHECK(load_keys("/dev/zero", keys)->text.find("is no regular file") != std::string::npos);
}

TEST_CASE("Secret text is wiped where it is cut and when it moves", "[wire][seal]") {
  secret_text text(4);
  std::string("abcd").copy(text.data(), 4);
  text.shrink(2);
  CHECK(text.view() == "ab");
  CHECK(text.data()[2] == 0);
  secret_text other = std::move(text);
  CHECK(other.view() == "ab");
  other = secret_text(1);
  CHECK(other.view().size() == 1);
}
