// One collective Operation, on a Transport.
#pragma once

#include <functional>
#include <vector>

#include "dist/backend/operation.h"
#include "dist/collectives/collective_args.h"
#include "dist/transport/transport.h"

namespace dist {

// Carries out the collective: an algorithm, or a library that has its own.
using CollectiveFunction = std::function<void(const CollectiveArgs& args)>;

// Blocks until this rank's part is done. Takes avg and premul_sum apart: `run` gets base operations only.
void run_collective(Transport& net, const Operation& operation, const CollectiveFunction& run);

std::vector<TensorView> views_of(const TensorList& tensors);

}  // namespace dist
