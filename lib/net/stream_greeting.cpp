#include "net/stream_greeting.hpp"

#include "wire/challenger.hpp"

namespace lifering::net {

stream_greeting stream_greeting::of_opener() {
  stream_greeting made(true);
  made.ours_ = wire::challenger::draw();
  return made;
}

stream_greeting::step stream_greeting::take(const wire::receipt& frame) {
  const auto& proof = frame.proof;
  if (!is_opener_ && ours_ == 0 && proof.challenge != 0 && proof.echo == 0) {
    ours_ = wire::challenger::draw();
    theirs_ = proof.challenge;
    last_ = frame.number;
    return step::answer;
  }
  if (frame.sealed) {
    if (ours_ == 0 || proof.echo != ours_ || frame.number <= last_) return step::refuse;
    last_ = frame.number;
  }
  // The peer's last word: it can't open our hello.
  if (!frame.sealed && must_hold() && proof.challenge == 0 && proof.echo != 0) return step::refuse;
  if (proof.challenge == 0) return step::pass;
  if (!must_hold()) return step::refuse;
  theirs_ = proof.challenge;
  is_open_ = true;
  return step::opened;
}

}  // namespace lifering::net
