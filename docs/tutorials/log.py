# # An event log
#
# placeholder
print("log")
