// Rows that other systems recorded: config, key, owner. And what it means to agree with them.
#pragma once

#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ring/ring_support.hpp"
#include "support/catch.hpp"

namespace ring_test {

/// Text between separators; "" has one empty part.
inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// \xHH as a byte.
inline std::string unescape(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "\\x") == 0) {
      bytes += static_cast<char>(std::stoi(text.substr(i + 2, 2), nullptr, 16));
      i += 3;
    } else {
      bytes += text[i];
    }
  }
  return bytes;
}

struct oracle_row {
  std::string key;
  std::string owner;
};

/// One recorded set of servers.
struct oracle_config {
  std::string id;
  std::map<std::string, std::string> values;
  std::vector<oracle_row> rows;

  std::string value(const std::string& name) const {
    const auto at = values.find(name);
    return at == values.end() ? "" : at->second;
  }
  std::uint32_t number(const std::string& name) const {
    return static_cast<std::uint32_t>(std::stoul(value(name)));
  }
};

inline std::vector<oracle_config> read_oracle(const std::string& file) {
  std::ifstream in{std::string{LIFERING_RING_ORACLES} + "/" + file};
  REQUIRE(in);
  std::vector<oracle_config> configs;
  std::map<std::string, std::size_t> index;
  for (std::string line; std::getline(in, line);) {
    const auto fields = split(line, '\t');
    if (fields[0] == "#config") {
      index[fields.at(1)] = configs.size();
      configs.push_back({fields.at(1), {}, {}});
      for (std::size_t i = 2; i < fields.size(); ++i) {
        const std::size_t equals = fields[i].find('=');
        configs.back().values[fields[i].substr(0, equals)] =
            equals == std::string::npos ? "" : fields[i].substr(equals + 1);
      }
    } else if (!line.empty() && line[0] != '#') {
      REQUIRE(fields.size() == 3);
      configs.at(index.at(fields[0])).rows.push_back({unescape(fields[1]), unescape(fields[2])});
    }
  }
  return configs;
}

/// What came of the rows of a file.
struct agreement {
  std::size_t agreed = 0;
  std::size_t left_out = 0;

  friend bool operator==(const agreement&, const agreement&) = default;
  friend std::ostream& operator<<(std::ostream& out, const agreement& a) {
    return out << a.agreed << " agreed, " << a.left_out << " left out";
  }
};

/// A ring that answers for one config.
struct answering_ring {
  lifering::placement_options placement;
  std::vector<ring_node> nodes;
  std::function<std::string(const std::string&)> name_in_rows = [](const std::string& name) {
    return name;
  };  ///< Of a node.
};

/// Asks all ways of a lookup for each row's owner. `make` gives nothing for a config that is left
/// out; rows whose key `skips` are left out too.
template <class Make, class Skips>
agreement agree(const std::string& file, Make make, Skips skips) {
  agreement result;
  for (const oracle_config& config : read_oracle(file)) {
    CAPTURE(config.id);
    const std::optional<answering_ring> asked = make(config);
    if (!asked) {
      result.left_out += config.rows.size();
      continue;
    }
    const hash_ring ring = ring_of(asked->placement, asked->nodes);
    const auto view = ring.view();
    for (const oracle_row& row : config.rows) {
      if (skips(config, row)) {
        ++result.left_out;
        continue;
      }
      const ring_node* owner = view.owner_at(view.place(row.key));
      REQUIRE(owner != nullptr);
      if (asked->name_in_rows(owner->name) != row.owner) {
        FAIL("key " << row.key << " is " << row.owner << "'s, but here " << owner->name << "'s");
      }
      const std::string_view keys[] = {row.key};
      const ring_node* owners[1];
      view.owner(keys, owners);
      const ring_node* expected = row.key.empty() ? nullptr : owner;
      if (owners[0] != expected || view.owner(row.key) != expected) {
        FAIL("key " << row.key << " has several owners");
      }
      ++result.agreed;
    }
  }
  return result;
}

template <class Make>
agreement agree(const std::string& file, Make make) {
  return agree(file, make, [](const oracle_config&, const oracle_row&) { return false; });
}

/// A weight in another system's whole numbers: that many times 1 / unit.
inline lifering::weight scaled(std::uint64_t whole, std::uint32_t unit) {
  return weight_of(whole * 1000 / unit);
}

}  // namespace ring_test
