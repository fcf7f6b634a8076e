// A store for ranks that are threads of one process.
#pragma once

#include <memory>

#include "dist/store/store.h"

namespace dist {

std::shared_ptr<Store> make_memory_store();

}  // namespace dist
