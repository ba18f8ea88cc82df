#include "cluster/news_size.hpp"

#include <memory>

#include "swim/message.hpp"
#include "wire/seal.hpp"

namespace lifering::cluster_detail {

std::size_t news_size(const options& given, std::size_t metadata) {
  auto record = std::make_shared<swim::record>();
  record->name = given.name;
  record->address = endpoint::v4({10, 0, 0, 1}, 1);
  record->zone = given.zone;
  record->service = given.service;
  record->metadata.assign(metadata, ' ');
  swim::packet news;
  news.from.name = given.name;
  news.updates.emplace_back().subject = std::move(record);
  constexpr std::size_t envelope_max = 32;  // Beside the cluster id.
  const std::size_t seal = given.keys ? wire::seal_overhead : 0;
  return swim::size_bound(news) + given.cluster.size() + envelope_max + seal;
}

}  // namespace lifering::cluster_detail
