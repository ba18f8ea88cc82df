// Packets to Protobuf messages and back. The one place that knows both.
#pragma once

#include "swim/message.hpp"
#include "wire/decode_error.hpp"
#include "wire/lifering.pb.h"

namespace lifering::wire {

/// Fills a cleared message. What breaks a limit of swim/message.hpp is a mistake of the program.
void write_body(const swim::packet& from, pb::Packet& to);

/// Reads a message and enforces every limit. Overwrites `to`, keeping its storage. On an error `to`
/// is unspecified.
decode_error read_body(const pb::Packet& from, swim::packet& to);

/// The parts of records, shared by updates and by rows of a view.
void write_endpoint(const endpoint& from, pb::Endpoint& to);
void write_record(const swim::record& from, pb::Record& to);
decode_error read_endpoint(const pb::Endpoint& from, endpoint& to);
decode_error read_record(const pb::Record& from, swim::record_ptr& to);

}  // namespace lifering::wire
