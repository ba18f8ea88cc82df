#include <lifering/error.hpp>
#include <memory>

namespace lifering {
namespace {

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "lifering"; }

  std::string message(int value) const override { return text(static_cast<errc>(value)); }

 private:
  static const char* text(errc value) {
    switch (value) {
      case errc::empty_name:
        return "the name is empty; it takes 1 to 255 bytes";
      case errc::name_too_long:
        return "the name is longer than 255 bytes";
      case errc::empty_cluster_id:
        return "the cluster id is empty; it takes 1 to 64 bytes";
      case errc::cluster_id_too_long:
        return "the cluster id is longer than 64 bytes";
      case errc::zone_too_long:
        return "the zone is longer than 64 bytes";
      case errc::service_too_long:
        return "the service address is longer than 255 bytes";
      case errc::metadata_too_large:
        return "the metadata is larger than the limit";
      case errc::message_too_large:
        return "the message is larger than its way can carry";
      case errc::invalid_address:
        return "not an address that a member can have";
      case errc::invalid_seed:
        return "not a seed; it takes HOST:PORT, HOST, [IPV6]:PORT or srv:SERVICE";
      case errc::invalid_weight:
        return "not a weight; it takes 0 or 0.01 to 100";
      case errc::invalid_option:
        return "an option is out of its range";
      case errc::invalid_placement:
        return "not a placement, or impossible parameters of one";
      case errc::too_many_points:
        return "the ring would have more points than the limit";
      case errc::duplicate_node:
        return "the ring holds a node of that name already";
      case errc::unknown_node:
        return "the ring holds no node of that name";
      case errc::empty_key:
        return "an empty key has no owner";
      case errc::unknown_member:
        return "no member of that name is known";
      case errc::not_started:
        return "the cluster object was not started";
      case errc::already_started:
        return "the cluster object was started before";
      case errc::stopped:
        return "the cluster object was stopped";
      case errc::busy:
        return "there is no room for it at the moment; try again later";
      case errc::would_deadlock:
        return "a waiting call on a thread of the executor that has to do the work; use the "
               "asynchronous one";
      case errc::address_in_use:
        return "another process holds the address";
      case errc::no_seed_answered:
        return "no seed answered in time";
      case errc::timed_out:
        return "the deadline passed";
      case errc::canceled:
        return "the operation was canceled";
      case errc::unreachable:
        return "nobody is reachable there";
      case errc::wrong_cluster:
        return "the seed belongs to another cluster";
      case errc::wrong_version:
        return "the seed speaks another protocol version";
      case errc::wrong_placement:
        return "the seed places keys by another placement";
      case errc::name_in_use:
        return "a newer life of this name is a live member";
      case errc::too_many_members:
        return "the cluster is at its limit of members";
      case errc::wrong_key:
        return "the peer holds no key of ours, or only one side seals its packets";
    }
    return "unknown error";
  }
};

/// What throw_if() throws: its what() is the sentence alone, where std::system_error would add the
/// code's own words to it. Shared, as copying an exception must not throw.
class problem_error final : public std::system_error {
 public:
  explicit problem_error(const problem& found)
      : system_error(found.code), text_(std::make_shared<const std::string>(found.text)) {}

  const char* what() const noexcept override { return text_->c_str(); }

 private:
  std::shared_ptr<const std::string> text_;
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const category instance;
  return instance;
}

void throw_if(const std::optional<problem>& found) {
  if (found) throw problem_error(*found);
}

}  // namespace lifering
