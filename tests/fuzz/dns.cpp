// Any bytes as the answer of a name server: no record reaches out of it.
#include "net/dns_answer.hpp"

#include "fuzz/fuzz_target.hpp"

namespace lifering::fuzz {

void run(bytes_view input) {
  net::dns_answer answer(input);
  std::size_t total = 0;
  answer.for_each([&](unsigned, bytes_view data) {
    LIFERING_CHECK(data.empty() || (data.data() >= input.data() &&
                                    data.data() + data.size() <= input.data() + input.size()));
    total += 10 + data.size();
    if (data.size() > 6) LIFERING_CHECK(answer.name_at(data.data() + 6).size() < 1025);
  });
  LIFERING_CHECK(total <= input.size());
}

}  // namespace lifering::fuzz
