// All of lifering. Programs that only need a ring include <lifering/ring.hpp>, which needs nothing
// but the standard library; only <lifering/cluster.hpp> brings Asio in.
#pragma once

#include <lifering/cluster.hpp>
#include <lifering/config.hpp>
#include <lifering/endpoint.hpp>
#include <lifering/error.hpp>
#include <lifering/event.hpp>
#include <lifering/hash.hpp>
#include <lifering/keyring.hpp>
#include <lifering/member.hpp>
#include <lifering/options.hpp>
#include <lifering/placement.hpp>
#include <lifering/ring.hpp>
#include <lifering/transport.hpp>
#include <lifering/weight.hpp>

// Defined for whoever uses a library that was built with the placements of other systems.
#if defined(LIFERING_COMPAT)
#include <lifering/compat.hpp>
#endif
