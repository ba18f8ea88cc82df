// What a packet keeps once it has been dealt with.
#include <memory>

#include "support/catch.hpp"
#include "swim/message.hpp"

using namespace lifering::swim;

TEST_CASE("A packet that is cleared holds no news, and the storage of as much as a datagram has",
          "[swim]") {
  const bool is_much = GENERATE(false, true);
  update news;
  news.subject = std::make_shared<const record>();
  packet content;
  content.updates.assign(packet::updates_kept + (is_much ? 1 : 0), news);
  content.clear();
  CHECK(content.updates.empty());
  CHECK(content.updates.capacity() == (is_much ? 0 : packet::updates_kept));
  CHECK(news.subject.use_count() == 1);
}

TEST_CASE("A packet that is cleared holds no part of a view", "[swim]") {
  packet content;
  content.body =
      GENERATE(body{view_rows{}}, body{view_delta{}}, body{view_compare{}}, body{view_summary{}});
  content.clear();
  CHECK(std::holds_alternative<std::monostate>(content.body));
}
