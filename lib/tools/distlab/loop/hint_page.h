// Hint pages: one for each level of a lab, with a section for each part. A section begins with a line
// "**Part 2.**", "**Parts 1 and 2**" or "**第 2 部分。**"; what stands before the first one is for all.
#pragma once

#include <optional>
#include <string>

namespace distlab::loop {

// A translation says at its end what it translates.
std::string without_note_of_translation(std::string page);

// What the page says on that part: the lines for all (without the title), then the section. Nothing when the
// page has no section for it.
std::optional<std::string> section_for_part(const std::string& page, int part);

// Its paragraphs broken at spaces to so many columns; code, lists and tables stay as they are.
std::string reflowed(const std::string& page, int columns);

}  // namespace distlab::loop
