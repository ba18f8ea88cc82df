// Carrying gossip over something else than the UDP and TCP sockets that the library opens itself:
// an in-process bus, QUIC, a service mesh, sockets of the application's own.
//
//     class my_transport : public lifering::transport { ... };
//     options.transport = std::make_shared<my_transport>();
//
// tests/cluster/memory_network.cpp is one, for members in one process.
//
// A transport carries bytes and knows nothing of what is in them. Envelopes, seals, frames, limits,
// deadlines and the allow list stay above it and are the same as over sockets; so a transport
// needn't authenticate, order datagrams or deliver them at all, and may deliver one twice. It must
// not change them: what is damaged is dropped.
//
// Addresses are endpoints: sixteen bytes and a port, which need mean nothing to IP. Each member of
// a cluster has one of its own, the same for all who send to it. They are what seeds, `advertise`,
// `allow` and `member::address` speak of; unspecified and multicast ones are nobody's.
//
// Threads. The library calls a transport from one thread at a time: from start() for open(), and
// afterwards from where its protocol runs, so a function that blocks holds up the whole member. A
// transport may call the library (its listener, and completions) from any thread, several at once,
// also from within a function that the library is calling. Such calls copy what they are given,
// post, and return: they take a mutex for the time of the copy, never wait, and call nothing back.
// Nothing here may throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <lifering/config.hpp>
#include <lifering/endpoint.hpp>
#include <lifering/error.hpp>
#include <memory>
#include <optional>
#include <span>
#include <system_error>

namespace lifering {

/// One connection: bytes both ways, reliably and in order. Over sockets this is TCP.
///
/// Held by shared_ptr, and let go of after close(). There is at most one read and one write under
/// way. The library has a deadline for the whole life of each stream and closes it then; a
/// transport needs no timers.
class LIFERING_API transport_stream {
 public:
  /// The end of a read or write: what went wrong, and how many bytes went. To be called once; later
  /// calls do nothing. After close() it needn't be called any more. A function object that can be
  /// copied, moved and destroyed anywhere.
  using completion = std::function<void(std::error_code, std::size_t)>;

  virtual ~transport_stream() = default;

  /// Reads what there is, at least one byte, or waits for it. No error and no bytes is the peer's
  /// orderly end. `into` stays valid until the completion was called or destroyed, whatever happens
  /// meanwhile.
  virtual void async_read_some(std::span<std::uint8_t> into, completion done) = 0;

  /// Writes all of it. To complete late is how a transport slows the library down. `bytes` stays
  /// valid as long as `into`.
  virtual void async_write(std::span<const std::uint8_t> bytes, completion done) = 0;

  /// Nothing more will be written: the peer reads an orderly end after the bytes that were.
  virtual void shutdown_send() = 0;

  /// Ends both directions at once. What was written before shutdown_send() should still arrive.
  virtual void close() = 0;
};

/// What a member's packets travel over. One object serves one cluster object.
class LIFERING_API transport {
 public:
  /// What a transport tells the library. Calls after close() do nothing.
  class LIFERING_API listener {
   public:
    virtual ~listener() = default;

    /// A datagram from the member at `from`, which is what it calls its own address and where a
    /// reply goes. What comes faster than it is read is dropped beyond 4 MiB, and counted.
    virtual void datagram_received(const endpoint& from, std::span<const std::uint8_t> bytes) = 0;

    /// Certain knowledge that no process serves `peer` any more, as ICMP's "port unreachable" gives
    /// it: a reason to look sooner, not a verdict. A transport without such knowledge never calls
    /// this, and silence will do.
    virtual void peer_refused(const endpoint& peer) = 0;

    /// A peer has opened a stream. `from` is counted against `limits.streams_per_source`; its port
    /// needn't be the peer's own.
    virtual void stream_accepted(const endpoint& from, std::shared_ptr<transport_stream> made) = 0;
  };

  /// A stream that is open, or why there is none. To be called once; later calls do nothing, and a
  /// stream that comes too late is closed.
  using connected = std::function<void(std::error_code, std::shared_ptr<transport_stream>)>;

  virtual ~transport() = default;

  /// Begins to listen. `bind` is what options::bind says, to be used or not. `local` becomes the
  /// address of this end, which is what others are told unless options::advertise is set. After a
  /// problem, whose sentence start() reports, it may be tried again. Nothing that is told before
  /// start() returns is lost.
  virtual std::optional<problem> open(const endpoint& bind, std::shared_ptr<listener> told,
                                      endpoint& local) = 0;

  /// Sends a datagram of at most `limits.datagram` bytes, or drops it: nothing waits. The bytes are
  /// valid during the call only. An error that speaks of this host (no_buffer_space, network_down,
  /// network_unreachable, host_unreachable, permission_denied, operation_not_permitted) counts as
  /// evidence that we, not the peer, are unwell; every error is counted.
  virtual std::error_code send(const endpoint& to, std::span<const std::uint8_t> bytes) = 0;

  /// Called after the last send() of each turn, for transports that gather.
  virtual void flush() {}

  /// Opens a stream to the member at `to`. connection_refused, host_unreachable and the like become
  /// errc::unreachable above. One that takes longer than its deadline is given up without a word.
  virtual void async_connect(const endpoint& to, connected done) = 0;

  /// The member stops: the last call. Called once for each open() without a problem, after every
  /// stream was closed.
  virtual void close() = 0;
};

}  // namespace lifering
