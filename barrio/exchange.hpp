#pragma once

/// @file Umbrella header of the room `exchange`: messages between ranks.

#include "barrio/exchange/ask.hpp"
#include "barrio/exchange/byte_rows.hpp"
#include "barrio/exchange/byte_values.hpp"
#include "barrio/exchange/engine.hpp"
#include "barrio/exchange/gather_scatter.hpp"
#include "barrio/exchange/halo.hpp"
#include "barrio/exchange/message.hpp"
#include "barrio/exchange/neighbor_collectives.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/exchange/options.hpp"
#include "barrio/exchange/outbox.hpp"
#include "barrio/exchange/packet_round.hpp"
#include "barrio/exchange/repeated_exchange.hpp"
#include "barrio/exchange/round.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/exchange/shared_ids.hpp"
#include "barrio/exchange/strategy.hpp"
#include "barrio/exchange/traffic.hpp"
#include "barrio/exchange/tuple_list.hpp"
#include "barrio/exchange/value_type.hpp"
