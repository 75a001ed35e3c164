# A parse error shows the line.
# effect: read
import configparser
configparser.ConfigParser().read("@SECRET@")
