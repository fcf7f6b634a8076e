# Our comments are plain ones; Doxygen wants to be told: the one that opens a file, those before a declaration, and
# those behind it on its line.
1s|^// |/// \\file\n/// |
s|^( *)// |\1/// |
s|([^ ].*[;,{] *)// |\1///< |
s|^( *[^ }].*} *)// |\1///< |
# Shorter forms of calls stand together under one comment.
s|^inline Work |/// \\overload\n&|
