// A life that nobody here holds yet, and what it says.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stage.hpp"

namespace lifering::swim::test {

inline constexpr stream_id stream{accepted_stream_bit | 1};

inline record newcomer(const std::string& name = "newcomer",
                       const std::string& at = "10.0.0.77:7946") {
  record made;
  made.name = name;
  made.epoch = make_epoch(1, 77);
  made.incarnation = 1;
  made.address = *endpoint::parse(at);
  return made;
}

inline packet said_by(const stage& s, const record& life) {
  packet made = s.from(1);
  made.from.name = life.name;
  made.from.epoch = life.epoch;
  made.from.known_members = 1;
  made.from.view_digest = 0;
  return made;
}

inline update news_of(const record& life) {
  update made;
  made.subject = std::make_shared<const record>(life);
  made.incarnation = life.incarnation;
  return made;
}

inline packet own_row(const stage& s, const record& life,
                      member_state state = member_state::alive) {
  view_rows own;
  own.rows.push_back({std::make_shared<const record>(life), life.incarnation, state});
  own.last = true;
  packet made = said_by(s, life);
  made.body = std::move(own);
  return made;
}

/// That life asks for our view on a stream of its own, and shows itself.
inline void knock_by_stream(stage& s, const record& life, bool fresh = false) {
  s.datagrams.clear();
  s.frames.clear();
  s.events.clear();
  packet asked = said_by(s, life);
  asked.body = sync_request{true, fresh};
  s.give(stream_accepted{stream, endpoint::v4({10, 0, 0, 77}, 50000)});
  s.give(stream_received{stream, asked});
  s.give(stream_received{stream, own_row(s, life)});
}

inline std::vector<ping> pings_for(const stage& s, const record& life) {
  std::vector<ping> found;
  for (const auto& sent : s.with<ping>()) {
    const auto& asked = std::get<ping>(sent.content.body);
    if (sent.to == life.address && asked.target == life.name && asked.target_epoch == life.epoch) {
      found.push_back(asked);
    }
  }
  return found;
}

inline void answer_ping(stage& s, const record& life) {
  packet made = said_by(s, life);
  made.body = ack{pings_for(s, life).back().sequence};
  s.give(packet_received{life.address, made});
}

/// A machine beside three silent others, so that only what concerns the newcomer happens.
inline stage quiet_stage(config settings = papers()) {
  stage s(3, std::move(settings));
  return s;
}

}  // namespace lifering::swim::test
