// Rows as a table for people and as JSON for programs.
#pragma once

#include <cstdio>
#include <vector>

#include "harness.h"

namespace probe {

void print_row(const Row& row);
void write_json(std::FILE* out, const std::vector<Row>& rows);

}  // namespace probe
