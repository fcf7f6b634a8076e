// --help as a page for people: one spelling of each flag, and what distrun's command line looks like.
#pragma once

#include <memory>

#include <CLI/CLI.hpp>

namespace distrun {

std::shared_ptr<CLI::FormatterBase> help_page();

}  // namespace distrun
