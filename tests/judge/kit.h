// Kit: what a lab's runner is built from, besides the graded file, and by which commands: those of this build
// tree.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace judge {

struct Lab {
  std::filesystem::path build, root;  // the build tree and the sources
  std::filesystem::path file;         // "labs/03_send_recv/send_recv.cpp"
  std::string number() const;         // "03"
};

struct Kit {
  std::vector<std::string> compile, link;  // words; `source`, `object`, ... stand for files of a submission
  std::vector<std::string> compile_reads, link_reads;
  std::vector<std::filesystem::path> libraries;  // ours, that the runner is linked with
  std::filesystem::path own_object;              // of the file that is in the lab's folder
  static constexpr const char *source = "@source@", *object = "@object@", *dependencies = "@dependencies@",
                              *program = "@program@";
};

// Throws std::runtime_error when this build tree cannot say.
Kit kit_of(const Lab& lab);

// The words with each of `from` put in place: {{Kit::object, "/tmp/x.o"}, ...}.
std::vector<std::string> filled(std::vector<std::string> words,
                                const std::vector<std::pair<std::string, std::string>>& places);

// The header that says what the file has to define, by absolute path.
std::filesystem::path contract_of(const Lab& lab);

// Headers that the file of a lab may include, by absolute path: its contract, dist/dist.h, and what these
// include.
std::vector<std::filesystem::path> public_headers(const Lab& lab);

}  // namespace judge
