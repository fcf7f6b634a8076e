// The endpoint over an Engine: messages over whatever links the ranks have, and work in their shared memory.
#pragma once

#include <memory>

#include "dist/transport/endpoint.h"

namespace dist::net {

class Engine;

std::shared_ptr<Endpoint> make_engine_endpoint(std::shared_ptr<Engine> engine, int world_size);

}  // namespace dist::net
