#include "help.h"

#include <string>

namespace distrun {
namespace {

class HelpPage : public CLI::Formatter {
 public:
  HelpPage() { column_width(34); }

  std::string make_usage(const CLI::App*, std::string) const override {
    return "\nUsage: distrun [OPTIONS] PROGRAM [ARGUMENTS...]\n"
           "Dashes and underscores are the same in a flag's name; PET_<FLAG> in the environment sets a "
           "default.\n";
  }
  std::string make_option_name(const CLI::Option* option, bool) const override {
    const auto& shorts = option->get_snames();
    const auto& longs = option->get_lnames();
    std::string name = shorts.empty() ? "    " : "-" + shorts.front() + (longs.empty() ? "" : ", ");
    return longs.empty() ? name : name + "--" + longs.front();
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    return option->get_type_size() == 0 ? "" : " " + type.substr(0, type.find(':'));
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_page() { return std::make_shared<HelpPage>(); }

}  // namespace distrun
