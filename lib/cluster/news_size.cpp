#include "cluster/news_size.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "swim/message.hpp"
#include "wire/seal.hpp"
#include "wire/vouchers.hpp"

namespace lifering::cluster_detail {

std::size_t news_size(const options& given, std::size_t metadata) {
  auto record = std::make_shared<swim::record>();
  record->name = given.name;
  record->address = endpoint::v4({10, 0, 0, 1}, 1);
  record->zone = given.zone;
  record->service = given.service;
  record->metadata.assign(metadata, ' ');
  swim::hash_metadata(*record);
  swim::packet news;
  news.from.name = given.name;
  news.updates.emplace_back().subject = std::move(record);
  // Whatever others are called, we must be able to ask for a probe of them, to accuse them, and to
  // tell them that we leave.
  const std::string longest(swim::name_max, ' ');
  swim::packet request;
  request.from.name = given.name;
  request.body = swim::ping_request{0, longest, 0, {}, 0};
  swim::packet accusation;
  accusation.from.name = given.name;
  swim::update& claim = accusation.updates.emplace_back();
  claim.kind = swim::update_kind::suspect;
  claim.name = longest;
  claim.accuser = given.name;
  claim.epoch = claim.accuser_epoch = claim.incarnation = ~std::uint64_t{0};
  swim::packet farewell;
  farewell.from.name = given.name;
  farewell.body = swim::ping{0, longest, ~std::uint64_t{0}};
  farewell.updates.push_back(claim);
  farewell.updates.back().kind = swim::update_kind::left;
  farewell.updates.back().name = given.name;
  farewell.updates.back().accuser.clear();
  constexpr std::size_t envelope_max = 32;  // Beside the cluster id.
  const std::size_t seal = given.keys ? wire::seal_overhead + wire::vouchers_size_max : 0;
  return std::max({swim::size_bound(news), swim::size_bound(request), swim::size_bound(accusation),
                   swim::size_bound(farewell)}) +
         given.cluster.size() + envelope_max + seal;
}

}  // namespace lifering::cluster_detail
