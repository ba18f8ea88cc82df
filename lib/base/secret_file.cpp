#include "base/secret_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/check.hpp"
#include "base/text.hpp"

namespace lifering::base {
namespace {

/// An open file that closes itself.
class file {
 public:
  explicit file(const std::string& path)
      // Opening a pipe must not wait for its other end.
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) {}
  ~file() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

problem wrong(const std::string& path, const std::string& what) {
  return {errc::invalid_option, "the file " + quoted(path) + " " + what};
}

problem unreadable(const std::string& path) {
  return wrong(path, "can't be read: " + std::generic_category().message(errno));
}

std::optional<problem> check_access(const std::string& path, const struct stat& about) {
  if (!S_ISREG(about.st_mode)) return wrong(path, "is no regular file");
  if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(about.st_mode & 07777));
    return wrong(path, "is open to others than its owner (mode " + std::string(mode) +
                           "); chmod 600 makes it right");
  }
  if (about.st_uid != ::geteuid() && about.st_uid != 0) {
    return wrong(path, "belongs to user " + std::to_string(about.st_uid) + "; user " +
                           std::to_string(::geteuid()) + ", who runs us, or root would be right");
  }
  return std::nullopt;
}

}  // namespace

secret_text::secret_text(std::size_t size) : data_(std::make_unique<char[]>(size)), size_(size) {}

secret_text::~secret_text() {
  if (data_) ::explicit_bzero(data_.get(), size_);
}

secret_text::secret_text(secret_text&& other) noexcept
    : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}

secret_text& secret_text::operator=(secret_text&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void secret_text::shrink(std::size_t size) noexcept {
  LIFERING_CHECK(size <= size_);
  if (data_) ::explicit_bzero(data_.get() + size, size_ - size);
  size_ = size;
}

std::optional<problem> read_secret_file(const std::string& path, std::size_t size_max,
                                        secret_text& out) {
  const file source(path);
  struct stat about = {};
  if (source.descriptor() < 0 || ::fstat(source.descriptor(), &about) != 0) return unreadable(path);
  if (auto found = check_access(path, about)) return found;
  secret_text text(size_max + 1);  // One more, to see that there is more.
  std::size_t size = 0;
  while (size <= size_max) {
    const auto got = ::read(source.descriptor(), text.data() + size, size_max + 1 - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(path);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > size_max) {
    return wrong(path, "has more than the " + std::to_string(size_max) + " bytes that are read");
  }
  text.shrink(size);
  out = std::move(text);
  return std::nullopt;
}

}  // namespace lifering::base
