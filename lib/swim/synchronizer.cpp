#include "swim/synchronizer.hpp"

#include <algorithm>
#include <lifering/error.hpp>
#include <utility>

#include "base/check.hpp"
#include "swim/prober.hpp"

namespace lifering::swim {

std::error_code to_error(refusal_reason reason) noexcept {
  switch (reason) {
    case refusal_reason::wrong_cluster:
      return errc::wrong_cluster;
    case refusal_reason::wrong_version:
      return errc::wrong_version;
    case refusal_reason::wrong_placement:
      return errc::wrong_placement;
    case refusal_reason::name_in_use:
      return errc::name_in_use;
    case refusal_reason::too_many_members:
      return errc::too_many_members;
    case refusal_reason::invalid_member:
      return errc::invalid_address;
    case refusal_reason::busy:
      return errc::busy;
    case refusal_reason::ourselves:
      return errc::unreachable;
  }
  return errc::unreachable;
}

synchronizer::synchronizer(core& shared, membership& members)
    : shared_(shared), members_(members) {}

// Opening streams.

synchronizer::session& synchronizer::open(const endpoint& to, purpose what) {
  session& made = sessions_.emplace_back();
  made.stream = stream_id{++last_stream_};
  made.what = what;
  shared_.out->push(open_stream{made.stream, to, shared_.settings.timing.stream_timeout});
  return made;
}

bool synchronizer::exchange(const endpoint& with, bool join, finished done) {
  if (!room()) return false;
  session& made = open(with, purpose::exchange);
  made.done = std::move(done);
  ++shared_.counters.syncs_started;
  shared_.frame(made.stream).body = sync_request{join, !shared_.settled};
  send_view(made.stream);
  return true;
}

void synchronizer::probe(row_id id, std::uint64_t sequence) {
  if (!room()) return;
  const record_ptr target = shared_.table.at(id).subject;
  session& made = open(target->address, purpose::probe);
  made.sequence = sequence;
  shared_.frame(made.stream).body = ping{sequence, target->name, target->epoch};
}

bool synchronizer::deliver(const record& to, const std::string& payload, finished done) {
  if (!room()) return false;
  session& made = open(to.address, purpose::deliver);
  made.sequence = hash_bytes(to.name);
  made.done = std::move(done);
  shared_.frame(made.stream).body = user_message{made.sequence, payload};
  return true;
}

bool synchronizer::fetch(const endpoint& from, const metadata_pull& what, finished done) {
  if (!room()) return false;
  session& made = open(from, purpose::fetch);
  made.done = std::move(done);
  shared_.frame(made.stream).body = what;
  return true;
}

bool synchronizer::room_to_serve() const noexcept {
  // A quarter is left for our own streams: whoever opens many and says nothing must not keep us
  // from joining, probing and delivering.
  const std::size_t limit = shared_.settings.limits.streams;
  const auto served = static_cast<std::size_t>(std::count_if(
      sessions_.begin(), sessions_.end(), [](const auto& s) { return s.what == purpose::serve; }));
  return room() && served < limit - limit / 4;
}

void synchronizer::serve_metadata(session& at, const metadata_pull& asked) {
  const stream_id stream = at.stream;
  const row_id id = shared_.table.find(asked.name);
  if (id != no_row) {
    const record& held = *shared_.table.at(id).subject;
    if (held.epoch == asked.epoch && held.metadata_hash == asked.hash && asked.hash != 0 &&
        !held.lacks_metadata()) {
      ++shared_.counters.metadata_served;
      shared_.frame(stream).body = metadata_push{asked.hash, held.metadata};
    }
  }
  close(stream);
}

void synchronizer::send_view(stream_id stream) {
  // As many frames as the budget asks for; the last one says so.
  packet* frame = &shared_.frame(stream);
  frame->body = view_rows{};
  std::size_t used = size_bound(*frame);
  for (row_id id = 0; id < shared_.table.slots(); ++id) {
    const row& held = shared_.table.at(id);
    if (!held.subject) continue;
    if (shared_.outdated && id != shared_.self_row) continue;
    view_row row = shared_.row_of(id);
    const std::size_t bytes = size_bound(row);
    if (used + bytes > shared_.settings.frame_budget) {
      frame = &shared_.frame(stream);
      frame->body = view_rows{};
      used = size_bound(*frame);
    }
    std::get<view_rows>(frame->body).rows.push_back(std::move(row));
    used += bytes;
  }
  std::get<view_rows>(frame->body).last = true;
}

// What happens on them.

void synchronizer::on_accepted(stream_id stream, const endpoint& from) {
  if (!room_to_serve() || !shared_.active()) {
    ++shared_.counters.dropped_stream_limit;
    shared_.frame(stream).body = refusal{refusal_reason::busy, "too many streams are open"};
    shared_.out->push(close_stream{stream});
    return;
  }
  session& made = sessions_.emplace_back();
  made.stream = stream;
  made.what = purpose::serve;
  made.peer = from;
}

void synchronizer::on_frame(stream_id stream, const packet& content) {
  session* at = find(stream);
  if (!at) return;
  const sender& from = content.from;
  const bool from_ourselves = shared_.is_self(from.name) && from.epoch == shared_.self->epoch;
  if (const auto* refused = std::get_if<refusal>(&content.body);
      refused && at->what != purpose::serve) {
    return close(stream, {to_error(refused->reason), refused->detail, from_ourselves});
  }
  if (from.placement != shared_.settings.placement) {
    ++shared_.counters.dropped_wrong_placement;
    if (at->what == purpose::serve) {
      return refuse(*at, refusal_reason::wrong_placement,
                    "keys are placed otherwise here: placement and its parameters must be equal");
    }
    return close(stream, {errc::wrong_placement});
  }
  if (from_ourselves) {
    // An address of others that leads to us: a seed under another one, or a member that is wrong
    // about its own.
    ++shared_.counters.dropped_from_self;
    if (at->what != purpose::serve) return close(stream, {errc::unreachable});
    return refuse(*at, refusal_reason::ourselves, "its address leads to ourselves");
  }
  if (const row_id by = shared_.table.find(from.name); by != no_row) members_.heard_from(from, by);
  for (const update& news : content.updates) {
    const bool by_itself = news.subject_name() == from.name;
    if (by_itself || !members_.introduces(news)) {
      members_.apply(news, no_row, by_itself);
    } else {
      ++shared_.counters.dropped_bad_sender;  // Views tell of others on streams.
    }
  }

  // What is applied may have closed sessions; look again.
  at = find(stream);
  if (!at) return;
  if (const auto* asked = std::get_if<sync_request>(&content.body)) {
    if (at->what != purpose::serve || at->reached != stage::silent) return;
    serve_request(*at, from, *asked);
  } else if (const auto* reply = std::get_if<sync_reply>(&content.body)) {
    if (at->what != purpose::exchange || at->reached != stage::silent) return;
    at->reached = stage::begun;
    at->remembered = reply->remembered_epoch;
  } else if (const auto* rows = std::get_if<view_rows>(&content.body)) {
    take_rows(*at, content, *rows);
  } else if (const auto* pull = std::get_if<metadata_pull>(&content.body)) {
    if (at->what == purpose::serve) serve_metadata(*at, *pull);
  } else if (const auto* push = std::get_if<metadata_push>(&content.body)) {
    if (at->what == purpose::fetch) close(stream, {.metadata = push->bytes});
  } else if (const auto* asked_ping = std::get_if<ping>(&content.body)) {
    serve_ping(*at, from, *asked_ping);
  } else if (const auto* answer = std::get_if<ack>(&content.body)) {
    const bool probed = at->what == purpose::probe;
    if (!(probed || at->what == purpose::deliver) || answer->sequence != at->sequence) return;
    if (probed) prober_->on_stream_ack(answer->sequence);
    close(stream);
  } else if (const auto* message = std::get_if<user_message>(&content.body)) {
    if (at->what == purpose::serve) take_message(*at, from, *message);
  } else {
    ++shared_.counters.dropped_unexpected_frame;
  }
}

void synchronizer::serve_ping(session& at, const sender& from, const ping& asked) {
  const bool serving = at.what == purpose::serve;
  if (serving && shared_.is_self(asked.target) && asked.target_epoch == shared_.self->epoch) {
    packet& answered = shared_.frame(at.stream);
    answered.body = ack{asked.sequence};
    // An older life that still speaks: let it know. A datagram may have had no room for that.
    const row_id by = shared_.table.find(from.name);
    if (by != no_row && shared_.table.at(by).subject->epoch > from.epoch) {
      answered.updates.push_back(shared_.update_of(by));
    }
  } else {
    ++shared_.counters.dropped_not_for_us;
  }
  if (serving) close(at.stream);
}

void synchronizer::take_message(session& at, const sender& from, const user_message& message) {
  if (shared_.table.find(from.name) == no_row) {
    ++shared_.counters.dropped_bad_sender;
    return close(at.stream);
  }
  if (message.sequence != hash_bytes(shared_.self->name)) {
    // Shown to the wrong one, or sent to an address that is ours by now.
    ++shared_.counters.dropped_not_for_us;
    return close(at.stream);
  }
  if (shared_.settings.has_room && !shared_.settings.has_room(message.payload.size())) {
    return refuse(at, refusal_reason::busy, "the application is behind with its messages");
  }
  shared_.out->push(user_received{from.name, message.payload, message_kind::reliable});
  shared_.frame(at.stream).body = ack{message.sequence};
}

void synchronizer::serve_request(session& at, const sender& from, const sync_request& asked) {
  at.reached = stage::begun;
  at.fresh = asked.fresh;
  ++shared_.counters.syncs_served;
  if (shared_.phase != life_phase::running) {
    return refuse(at, refusal_reason::busy, "this member is leaving");
  }
  const row_id id = shared_.table.find(from.name);
  if (id == no_row) {
    if (asked.join && shared_.table.present() >= shared_.settings.limits.members) {
      refuse_full(at);
    }
    return;
  }
  // Whoever is asked by a new life of its own name was there before, and is the one to stop.
  if (asked.fresh && shared_.is_self(from.name)) shared_.settled = true;
  const row& held = shared_.table.at(id);
  at.remembered = held.subject->epoch;
  if (!asked.fresh && held.present() && held.subject->epoch > from.epoch) {
    refuse(at, refusal_reason::name_in_use,
           "a newer life of " + from.name + " is at " + held.subject->address.to_string());
  }
}

void synchronizer::take_rows(session& at, const packet& content, const view_rows& rows) {
  const bool serving = at.what == purpose::serve;
  if (serving ? at.reached == stage::silent : at.reached != stage::begun) {
    ++shared_.counters.dropped_unexpected_frame;
    return;
  }
  for (const view_row& theirs : rows.rows) {
    const bool own = theirs.subject && theirs.subject->name == content.from.name &&
                     theirs.subject->epoch == content.from.epoch;
    // A fresh asker's own row comes again, with an epoch above that of the life that is remembered.
    const bool provisional = serving && at.fresh && own && at.remembered > content.from.epoch;
    const bool stranger = own && theirs.state == member_state::alive &&
                          (provisional || members_.is_stranger(*theirs.subject));
    if (stranger) {
      if (!take_own_row(at, theirs.subject, provisional)) return;
    } else if (serving && at.door.waiting() && theirs.subject && !provisional) {
      // Whom nobody reaches reaches nobody: its word on others is worth as much as on itself.
      members_.merge_unvouched(theirs);
    } else if (!provisional) {
      members_.merge(theirs);
    }
  }
  if (!rows.last || at.reached != stage::begun) return;  // the asker's row once more
  at.reached = stage::whole;
  if (!at.door.waiting()) conclude(at);
}

void synchronizer::exchange_done(session& at) {
  const stream_id stream = at.stream;
  if (!shared_.settled && at.remembered > shared_.self->epoch) {
    members_.outgrow(at.remembered);
    view_rows ours;
    ours.rows.push_back({shared_.self, shared_.self->incarnation, member_state::alive});
    ours.last = true;
    shared_.frame(stream).body = std::move(ours);
  }
  shared_.settled = true;
  shared_.outdated = false;
  close(stream);
}

void synchronizer::refuse(session& at, refusal_reason reason, std::string detail) {
  const stream_id stream = at.stream;
  shared_.frame(stream).body = refusal{reason, std::move(detail)};
  close(stream);
}

void synchronizer::on_ended(stream_id stream, std::error_code error) {
  session* at = find(stream);
  if (!at) return;
  if (at->what == purpose::probe && error == errc::unreachable) {
    prober_->on_stream_refused(at->sequence);
  }
  if (at->what == purpose::serve && error == errc::wrong_cluster) {
    // Anything of ours tells a stranger that this is another cluster.
    return refuse(*at, refusal_reason::wrong_cluster, "");
  }
  if (at->what == purpose::serve && error == errc::wrong_version) {
    return refuse(*at, refusal_reason::wrong_version, "");
  }
  // Closed before it answered: it had no room for us.
  end(stream, {error ? error : std::error_code(errc::busy)});
}

void synchronizer::close(stream_id stream, const stream_outcome& how) {
  shared_.out->push(close_stream{stream});
  end(stream, how);
}

void synchronizer::end(stream_id stream, const stream_outcome& how) {
  const auto found = std::find_if(sessions_.begin(), sessions_.end(),
                                  [stream](const auto& s) { return s.stream == stream; });
  LIFERING_CHECK(found != sessions_.end());
  finished done = std::move(found->done);
  if (found != sessions_.end() - 1) *found = std::move(sessions_.back());
  sessions_.pop_back();
  if (exchanges() == 0) callers_.clear();
  if (done) done(how);
}

synchronizer::session* synchronizer::find(stream_id stream) noexcept {
  const auto found = std::find_if(sessions_.begin(), sessions_.end(),
                                  [stream](const auto& s) { return s.stream == stream; });
  return found == sessions_.end() ? nullptr : &*found;
}

// Anti-entropy.

void synchronizer::refresh() {
  const row_id peer = shared_.table.random_other(shared_.random);
  if (peer != no_row) exchange(shared_.table.at(peer).subject->address, false, nullptr);
}

std::size_t synchronizer::exchanges() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(sessions_.begin(), sessions_.end(),
                    [](const auto& s) { return s.what == purpose::exchange; }));
}

void synchronizer::stop() {
  while (!sessions_.empty())
    close(sessions_.back().stream, {errc::stopped});
}

}  // namespace lifering::swim
