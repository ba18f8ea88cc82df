// Records and addresses, both ways.
#include <algorithm>
#include <lifering/weight.hpp>
#include <memory>

#include "wire/body.hpp"
#include "wire/fields.hpp"

namespace lifering::wire {
namespace {

constexpr std::size_t v4_size = 4;
constexpr std::size_t v6_size = 16;

static_assert(static_cast<int>(member_phase::serving) == pb::PHASE_SERVING);
static_assert(static_cast<int>(member_phase::joining) == pb::PHASE_JOINING);
static_assert(static_cast<int>(member_phase::draining) == pb::PHASE_DRAINING);

}  // namespace

void write_endpoint(const endpoint& from, pb::Endpoint& to) {
  const std::size_t size = from.is_v4() ? v4_size : v6_size;
  const auto* end = reinterpret_cast<const char*>(from.bytes.data()) + from.bytes.size();
  to.mutable_address()->assign(end - size, size);
  if (from.port != 0) to.set_port(from.port);
  if (from.scope != 0) to.set_scope(from.scope);
}

decode_error read_endpoint(const pb::Endpoint& from, endpoint& to) {
  const std::string& address = from.address();
  if (from.port() > 0xffff) return decode_error::bad_field;
  if (address.size() == v4_size) {
    to = endpoint::v4({}, 0);
    std::copy(address.begin(), address.end(), to.bytes.end() - v4_size);
  } else if (address.size() == v6_size) {
    std::copy(address.begin(), address.end(), to.bytes.begin());
  } else {
    return decode_error::bad_field;
  }
  // A scope would make a second identity of one IPv4 address.
  if (from.scope() != 0 && to.is_v4()) return decode_error::bad_field;
  to.port = static_cast<std::uint16_t>(from.port());
  to.scope = from.scope();
  return decode_error::none;
}

void write_record(const swim::record& from, pb::Record& to) {
  LIFERING_CHECK(!from.name.empty());
  to.set_name(checked(from.name, swim::name_max));
  write_endpoint(from.address, *to.mutable_address());
  // In messages of proto2 what is set takes room, also a zero.
  if (from.epoch != 0) to.set_epoch(from.epoch);
  if (from.incarnation != 0) to.set_incarnation(from.incarnation);
  if (!from.weight.owns_nothing()) to.set_weight_thousandths(from.weight.thousandths());
  if (from.phase != member_phase::serving) to.set_phase(static_cast<std::uint32_t>(from.phase));
  if (!from.zone.empty()) to.set_zone(checked(from.zone, swim::zone_max));
  if (!from.service.empty()) to.set_service(checked(from.service, swim::service_max));
  if (from.metadata_hash != 0) {
    to.set_metadata_hash(from.metadata_hash);
  } else if (!from.metadata.empty()) {
    to.set_metadata(checked(from.metadata, swim::metadata_max));
  }
  if (from.broadcasts != 0) to.set_broadcasts(from.broadcasts);
  if (!from.unknown_fields->empty()) {
    *to.mutable_unknown_fields() = checked(*from.unknown_fields, swim::unknown_fields_max);
  }
}

decode_error read_record(const pb::Record& from, swim::record_ptr& to) {
  const auto weight = weight::from_thousandths(from.weight_thousandths());
  const bool twice = from.metadata_hash() != 0 && !from.metadata().empty();
  if (from.name().empty() || !weight || from.phase() > pb::Phase_MAX || twice) {
    return decode_error::bad_field;
  }
  const bool fits = from.name().size() <= swim::name_max && from.zone().size() <= swim::zone_max &&
                    from.service().size() <= swim::service_max &&
                    from.metadata().size() <= swim::metadata_max &&
                    from.unknown_fields().size() <= swim::unknown_fields_max;
  if (!fits) return decode_error::over_limit;
  auto value = std::make_shared<swim::record>();
  if (const auto error = read_endpoint(from.address(), value->address);
      error != decode_error::none) {
    return error;
  }
  value->name = from.name();
  value->epoch = from.epoch();
  value->incarnation = from.incarnation();
  value->weight = *weight;
  value->phase = static_cast<member_phase>(from.phase());
  value->zone = from.zone();
  value->service = from.service();
  value->metadata = from.metadata();
  value->metadata_hash = from.metadata_hash();
  value->broadcasts = from.broadcasts();
  value->unknown_fields = from.unknown_fields();
  to = std::move(value);
  return decode_error::none;
}

}  // namespace lifering::wire
