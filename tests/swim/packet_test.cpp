// What a packet keeps of its storage once it has been dealt with.
#include <memory>

#include "support/catch.hpp"
#include "swim/message.hpp"

using namespace lifering::swim;

TEST_CASE("a packet that has been dealt with lets go of much news, and keeps a little", "[swim]") {
  const bool is_much = GENERATE(false, true);
  const std::size_t count = packet::updates_kept + (is_much ? 1 : 0);
  update news;
  news.subject = std::make_shared<const record>();
  packet content;
  content.body = ping{1, "m0", 1};
  content.updates.assign(count, news);
  content.let_go();
  CHECK(content.updates.size() == (is_much ? 0 : count));
  CHECK(content.updates.capacity() <= packet::updates_kept);
  CHECK(news.subject.use_count() == (is_much ? 1 : 1 + static_cast<long>(count)));
  CHECK(std::holds_alternative<ping>(content.body));
}

TEST_CASE("a packet that has been dealt with lets go of parts of views", "[swim]") {
  packet content;
  content.body =
      GENERATE(body{view_rows{}}, body{view_delta{}}, body{view_compare{}}, body{view_summary{}});
  content.let_go();
  CHECK(std::holds_alternative<std::monostate>(content.body));
}
