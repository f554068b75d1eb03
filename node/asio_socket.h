// What our TCP sockets have in common. Shows Asio: for node/asio_*.cc only.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "base/transport.h"

namespace ringkv {

// No delay, closed on exec; a peer that vanished without a word is noticed within about 10 s, whether or not
// we have something to send.
void set_socket_options(int socket);

// Connecting to a free port of this machine can, by chance, pick that very port as its own.
bool is_connected_to_itself(const boost::asio::ip::tcp::socket& socket);

Address address_text(const boost::asio::ip::tcp::endpoint& endpoint);

}  // namespace ringkv
